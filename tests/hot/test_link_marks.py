"""What a producer says of records to come, and how it travels from link to link."""

from tests.hot.link_toys import RECORD, fill, give_back, hand_on_mark, publish, said, say
from venym.hot.link import DONE, MARK, is_empty, make_link


def test_a_mark_is_what_was_said_last_and_of_its_own_word():
    link = make_link(RECORD, 8)
    assert said(link, MARK) == said(link, DONE) == 0
    say(link, MARK, 5)
    say(link, DONE, 2)
    say(link, MARK, 7)
    assert (said(link, MARK), said(link, DONE)) == (7, 2)
    assert is_empty(link)


def test_a_mark_is_handed_on_only_when_nothing_before_it_is_left():
    source, sink = make_link(RECORD, 8), make_link(RECORD, 8)
    fill(source, 0, 1)
    publish(source, 1)
    say(source, MARK, 5)
    say(source, DONE, 6)
    hand_on_mark(source, sink)
    assert not is_empty(source)
    assert (said(sink, MARK), said(sink, DONE)) == (0, 0)
    give_back(source, 1)
    hand_on_mark(source, sink)
    assert (said(sink, MARK), said(sink, DONE)) == (5, 6)
