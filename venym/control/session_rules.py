"""What a message must look like to be acted on: a small dictionary of FIX 4.2 and 4.4, and the check against it.

Tables list what the session and an order entry profile need. Session messages have all their tags listed; application
messages only those they must have, for what else they may carry differs from venue to venue. A `strict` check knows no
tag beyond the standard's and holds application values to the standard's lists; a lenient one lets both pass, and what
some venues leave out, since a fill that is rejected for a field nobody reads is a fill lost.
"""

import re
from typing import NamedTuple

from .session_messages import Message, utc_ns

INVALID_TAG, REQUIRED_MISSING, NOT_FOR_TYPE, NO_VALUE, WRONG_VALUE, WRONG_FORM = 0, 1, 2, 4, 5, 6
COMP_ID, SENDING_TIME, INVALID_TYPE, REPEATED_TAG, OUT_OF_ORDER, WRONG_COUNT = 9, 10, 11, 13, 14, 16
TEXTS = {
    INVALID_TAG: "Invalid tag number",
    REQUIRED_MISSING: "Required tag missing",
    NOT_FOR_TYPE: "Tag not defined for this message type",
    NO_VALUE: "Tag specified without a value",
    WRONG_VALUE: "Value is incorrect (out of range) for this tag",
    WRONG_FORM: "Incorrect data format for value",
    COMP_ID: "CompID problem",
    SENDING_TIME: "SendingTime accuracy problem",
    INVALID_TYPE: "Invalid MsgType",
    REPEATED_TAG: "Tag appears more than once",
    OUT_OF_ORDER: "Tag specified out of required order",
    WRONG_COUNT: "Incorrect NumInGroup count for repeating group",
}
REASON_MAX = {"FIX.4.2": 11, "FIX.4.4": 99}  # of SessionRejectReason; a reason above it is told in words only


class Fault(NamedTuple):
    """What is wrong: a SessionRejectReason, and the tag to blame, "" if there is none or it is no number."""

    reason: int
    tag: str = ""


def _numbers(text: str) -> frozenset[int]:
    """ "1 4-6" is 1, 4, 5, 6."""
    spans = (span.partition("-") for span in text.split())
    return frozenset(n for low, _, high in spans for n in range(int(low), int(high or low) + 1))


HEADER = _numbers("8 9 34 35 43 49 50 52 56 57 90 91 97 115 116 122 128 129 142-145 212 213 347 369 370 627-630")
_HEADER_REQUIRED = (49, 56, 34, 52)
_TAG_MAX = {"FIX.4.2": 446, "FIX.4.4": 956}
_USER_TAG_MIN = 5_000

_LETTERS = "0 1 2 3 4 5 6 7 8 9 A B C D E F G H J K L M N P Q R S T V W X Y Z a b c d e f g h i j k l m"
_MORE_4_4 = " n o p q r s t u v w x y z" + "".join(f" {a}{b}" for a, b in zip("A" * 26 + "B" * 8, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGH", strict=True))  # fmt: skip  # noqa: E501
_TYPES = {"FIX.4.2": frozenset(_LETTERS.split()), "FIX.4.4": frozenset((_LETTERS + _MORE_4_4).split())}

# Session messages: what they must have | what they may have besides.
_SESSION = {
    "0": "| 112",
    "1": "112 |",
    "2": "7 16 |",
    "3": "45 | 58 354 355 371-373",
    "4": "36 | 123",
    "5": "| 58 354 355",
    "A": "98 108 | 95 96 141 372 383-385 464 553 554 789",
}
_ALLOWED = {kind: _numbers(text.replace("|", " ")) for kind, text in _SESSION.items()}

# What a message must have, in the order in which it is missed: of both versions, and of one.
_REQUIRED = {kind: tuple(int(tag) for tag in text.partition("|")[0].split()) for kind, text in _SESSION.items()} | {
    "8": (37, 17, 150, 39, 54, 151, 14, 6),
    "9": (37, 11, 41, 39, 434),
    "B": (148, 33),
    "D": (11, 55, 54, 60, 40),
    "F": (41, 11, 55, 54, 60),
    "G": (41, 11, 55, 54, 60, 40),
    "H": (11, 55, 54),
    "d": (320, 322),
    "j": (372, 380),
}
_LEFT_OUT = (98, 434)  # by some venues: EncryptMethod, CxlRejResponseTo
_REQUIRED_4_2 = {"8": (20, 55), "D": (21,), "G": (21,), "d": (393,)}

_WHOLE = _numbers("7 9 16 33 34 36 45 78 90 93 95 108 124 146 212 323 348 350 352 354 356 358 362 364 369 373 380 382-384 386 393 453 454 789")  # fmt: skip  # noqa: E501
_DECIMAL = _numbers("6 12 14 31 32 38 44 53 84 99 110 111 119 132-135 151 152 155 210 211 387 389 424-426")
_FLAGS = _numbers("43 97 113 114 121 123 130 141")
_CHARACTERS = _numbers("4 5 20 21 39 40 54 59 63 77 150")
_TIMES = _numbers("42 52 60 62 122 126 168 341 370")
_DATES = _numbers("64 75 193 432")

_FORMS = (
    (_WHOLE, re.compile(r"\d{1,18}")),
    (_DECIMAL, re.compile(r"-?(\d{1,18}(\.\d{0,18})?|\.\d{1,18})")),
    (_FLAGS | _CHARACTERS, re.compile(r".", re.DOTALL)),
    (_DATES, re.compile(r"\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")),
)
_FORM_OF = {tag: form for tags, form in _FORMS for tag in tags}

# Values of the standard, of one character each, or else words.
_LETTERS_OF = {20: "0123", 21: "123", 39: "0123456789ABCDE", 40: "123456789ABCDEFGHIJKLMP", 54: "123456789ABCDEFG", 59: "01234567", 98: "0123456"}  # fmt: skip  # noqa: E501
_WORDS_OF = {167: "BA CB CD CMO CORP CP CPP CS FHA FHL FN FOR FUT GN GOVT IET MF MIO MPO MPP MPT MUNI NONE OPT PS RP RVRP SL TD USTB WAR ZOO ?"}  # fmt: skip  # noqa: E501
_VALUES = {tag: frozenset(text) for tag, text in _LETTERS_OF.items()} | {
    tag: frozenset(text.split()) for tag, text in _WORDS_OF.items()
}
_FLAG_VALUES = frozenset("YN")

# Groups: the tag that counts them, and the tags one may have. Each begins with the tag behind the count.
_GROUPS = {
    33: _numbers("58 354 355"),
    78: _numbers("79 80 467 539 661 736"),
    146: _numbers("22 46 48 54 55 58 65 106 107 167 200-202 205-207 223 231 305-319 348-351 362-365 435 436"),
    382: _numbers("337 375 437 438 655"),
    384: _numbers("372 385"),
    386: _numbers("336 625"),
    453: _numbers("447 448 452 802"),
    454: _numbers("455 456"),
}

_TAG = re.compile(r"[1-9]\d{0,7}")
_NUMBER = re.compile(r"-?\d{1,8}")


def check(message: Message, strict: bool) -> Fault | None:
    """The first thing that is wrong with a message of FIX 4.2 or 4.4, or None."""
    version, kind = message.version, message.msg_type
    if kind not in _TYPES[version] and (strict or not kind.startswith("U")):
        return Fault(INVALID_TYPE)
    required = _HEADER_REQUIRED + _REQUIRED.get(kind, ())
    if version == "FIX.4.2":
        required += _REQUIRED_4_2.get(kind, ())
    seen: set[int] = set()
    repeatable: frozenset[int] = frozenset()
    is_body = False
    for text, value in message.fields:
        if value is None or not _TAG.fullmatch(text):
            return Fault(INVALID_TAG, text if _NUMBER.fullmatch(text) else "")
        tag = int(text)
        fault = _check_tag(version, kind, tag, strict)
        fault = _check_value(tag, value, strict) if fault is None else fault
        if fault is not None:
            return Fault(fault, text)
        if tag not in HEADER:
            is_body = True
        elif is_body:
            return Fault(OUT_OF_ORDER, text)
        if tag in seen and tag not in repeatable and (strict or tag in HEADER or tag in required):
            return Fault(REPEATED_TAG, text)
        seen.add(tag)
        repeatable |= _GROUPS.get(tag, frozenset())
    for tag in required:
        if tag not in seen and (strict or tag not in _LEFT_OUT):
            return Fault(REQUIRED_MISSING, str(tag))
    return _check_counts(message) if strict else None


def _check_tag(version: str, kind: str, tag: int, strict: bool) -> int | None:
    if strict and tag > _TAG_MAX[version]:
        return INVALID_TAG
    if strict and tag not in HEADER and kind in _ALLOWED and tag not in _ALLOWED[kind]:
        return NOT_FOR_TYPE
    return None


def _check_value(tag: int, value: str, strict: bool) -> int | None:
    if not value:
        return NO_VALUE
    form = _FORM_OF.get(tag)
    if form is not None and not form.fullmatch(value):
        return WRONG_FORM
    if tag in _TIMES and utc_ns(value) is None:
        return WRONG_FORM
    if tag in _FLAGS and value not in _FLAG_VALUES:
        return WRONG_VALUE
    if strict and tag in _VALUES and value not in _VALUES[tag]:
        return WRONG_VALUE
    return None


def _check_counts(message: Message) -> Fault | None:
    tags = [tag for tag, _ in message.fields]
    for count, members in _GROUPS.items():
        told = message.whole(count)
        if told:
            behind = tags[tags.index(str(count)) + 1 :]
            if not behind or int(behind[0]) not in members or behind.count(behind[0]) != told:
                return Fault(WRONG_COUNT, str(count))
    return None
