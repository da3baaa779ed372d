"""Counters: one word, one name, one meaning each."""

from venym import metrics


def test_every_counter_has_a_word_and_a_name_of_its_own():
    assert [counter.word for counter in metrics.DECODER] == list(range(metrics.DECODER_COUNTERS))
    assert len({counter.name for counter in metrics.DECODER}) == len(metrics.DECODER)
    for counter in metrics.DECODER:
        assert getattr(metrics, counter.name.upper()) == counter.word
        assert counter.meaning and not counter.meaning.endswith(".")
