"""Loading a strategy: what it is, and a named error that says file, line and what is wrong."""

from pathlib import Path

import pytest

from tests.skips import require
from venym.strategies import load as loading
from venym.strategies.interface import PARAMS_MAX
from venym.strategies.load import (
    StrategyArguments,
    StrategyBroken,
    StrategyError,
    StrategyIncomplete,
    StrategyMissing,
    StrategyParams,
    StrategySyntax,
    StrategyUncompilable,
    StrategyWrites,
    load,
)

pytestmark = pytest.mark.plain

DECIDE = "def decide(params, state, market, signal, orders, position, intents):\n    pass\n"
EXECUTION = "def on_execution(params, state, execution, market, orders, position, intents):\n    pass\n"
TIMER = "def on_timer(params, state, clock_ns, market, orders, position, intents):\n    pass\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(text)
    return path


def refusal(kind: type[StrategyError], folder: Path, text: str) -> str:
    """What the error of exactly this kind says, without the file's folder."""
    with pytest.raises(StrategyError) as caught:
        load(write(folder, text))
    assert type(caught.value) is kind, caught.value
    said = str(caught.value)
    assert said.startswith(f"{folder}/mine.py"), said
    assert len(said) < 400 and said.count("\n") <= 1, said
    return said.removeprefix(f"{folder}/")


def test_a_file_is_a_strategy(tmp_path: Path) -> None:
    text = f'PARAMS = {{"a": 1, "b": -0.5}}\nTIMER_NS = 5_000\n{DECIDE}{EXECUTION}{TIMER}'
    made = load(write(tmp_path, text))
    assert (made.name, made.path) == ("mine", str(tmp_path / "mine.py"))
    assert (made.params, list(made.params), made.timer_ns) == ({"a": 1.0, "b": -0.5}, ["a", "b"], 5_000)
    assert made.on_timer is not loading.ignore_timer and made.on_execution is not loading.ignore_execution


def test_only_decide_is_needed(tmp_path: Path) -> None:
    made = load(write(tmp_path, DECIDE))
    assert (made.params, made.timer_ns, made.values()) == ({}, 0, ())
    assert (made.on_execution, made.on_timer) == (loading.ignore_execution, loading.ignore_timer)


def test_params_are_set_by_name(tmp_path: Path) -> None:
    made = load(write(tmp_path, 'PARAMS = {"threshold": 0.5, "shares": 100}\n' + DECIDE))
    assert made.values() == (0.5, 100.0)
    assert made.values({"shares": 7}) == (0.5, 7.0)
    with pytest.raises(StrategyParams, match=r"no param is called 'treshold' .*threshold, shares.*mean 'threshold'"):
        made.values({"treshold": 1})
    for odd in (float("nan"), float("inf"), "7", None, True):
        with pytest.raises(StrategyParams, match=r"param shares is .*not a finite number"):
            made.values({"shares": odd})  # type: ignore[dict-item]


def test_there_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(StrategyMissing, match=r"none\.py: No such file"):
        load(tmp_path / "none.py")
    with pytest.raises(StrategyMissing, match="Is a directory"):
        load(tmp_path)


def test_a_file_that_is_no_python(tmp_path: Path) -> None:
    assert refusal(StrategySyntax, tmp_path, "x = 1\ndef decide(:\n") == (
        "mine.py:2: invalid syntax\n    def decide(:"
    )  # fmt: skip
    refusal(StrategySyntax, tmp_path, "x = 1\0")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\ny = x / 0\n", "mine.py:2: ZeroDivisionError: division by zero\n    y = x / 0"),
        ("import none_such\n", "mine.py:1: ModuleNotFoundError: No module named 'none_such'\n    import none_such"),
    ],
)
def test_a_file_that_raises(tmp_path: Path, text: str, said: str) -> None:
    assert refusal(StrategyBroken, tmp_path, text) == said


def test_nothing_decides(tmp_path: Path) -> None:
    said = refusal(StrategyIncomplete, tmp_path, EXECUTION)
    assert "no function decide(params, state, market, signal, orders, position, intents)" in said
    assert "decide is int, not a function" in refusal(StrategyIncomplete, tmp_path, "decide = 5\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DECIDE + TIMER, "there is on_timer, but no TIMER_NS"),
        (DECIDE + "TIMER_NS = 5000\n", "there is TIMER_NS, but no on_timer"),
        (DECIDE + TIMER + "TIMER_NS = 999\n", "TIMER_NS is 999"),
        (DECIDE + TIMER + "TIMER_NS = 1e9\n", "TIMER_NS is 1000000000.0"),
    ],
)
def test_a_timer_has_a_period_and_a_call(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(StrategyIncomplete, tmp_path, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DECIDE.replace(", orders", ""), "mine.py:1: decide takes (params, state, market, signal, orders, position,"),
        (DECIDE.replace(", orders", ""), "intents), not (params, state, market, signal, position, intents)"),
        (DECIDE.replace("intents", "*intents"), "not (params, state, market, signal, orders, position, *intents)"),
        (DECIDE.replace("intents", "intents, **more"), "**more"),
        (DECIDE.replace("intents", "*, intents"), "*, intents"),
        (DECIDE + EXECUTION.replace("state, ", ""), "mine.py:3: on_execution takes"),
        (DECIDE.replace("pass", "yield 5"), "mine.py:1: decide yields"),
        ("async " + DECIDE, "decide yields or awaits"),
    ],
)  # fmt: skip
def test_a_call_takes_what_it_is_given(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(StrategyArguments, tmp_path, text)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("market.bid_shares[0] = 5", "market"),
        ("signal.y[0] += 1", "signal"),
        ("orders[0].leaves_shares = 0", "orders"),
        ("position.shares = 0", "position"),
        ("x, params[0] = 1.0, 2.0", "params"),
    ],
)
def test_what_is_shown_is_not_written_to(tmp_path: Path, line: str, shown: str) -> None:
    said = refusal(StrategyWrites, tmp_path, DECIDE.replace("pass", line))
    assert said == f"mine.py:2: decide writes to {shown}, which it is only shown\n    {line}"


def test_state_and_intents_are_written_to(tmp_path: Path) -> None:
    body = "state.whole[0] += 1\n    state.real[1] = 2.0\n    intents.slots[0].instrument = 3\n    intents.count[0] = 0"
    load(write(tmp_path, DECIDE.replace("pass", body)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("PARAMS = 5\n", "PARAMS is int"),
        ("PARAMS = {1: 5}\n", "PARAMS: 1 is no name"),
        ("PARAMS = {'two words': 5}\n", "'two words' is no name"),
        ("PARAMS = {'a': 'b'}\n", "a is 'b', not a finite number"),
        ("PARAMS = {'a': float('nan')}\n", "a is nan"),
        (f"PARAMS = {{f'p{{k}}': k for k in range({PARAMS_MAX + 1})}}\n", f"{PARAMS_MAX + 1} names"),
    ],
)
def test_params_are_names_and_numbers(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(StrategyParams, tmp_path, text + DECIDE)


def test_as_many_params_as_there_are(tmp_path: Path) -> None:
    text = f"PARAMS = {{f'p{{k}}': k for k in range({PARAMS_MAX})}}\n"
    assert len(load(write(tmp_path, text + DECIDE)).values()) == PARAMS_MAX


HEAD = """import numpy as np
from venym.strategies.interface import BUY, limit, small


def twice(x):
    return 2 * x


"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("state.real[0] = market.fo", "a record has no field 'fo'"),
        ("state.real[0] = np.zeros(4)[0]", "it allocates memory"),
        ("x = [1.0]; x.append(2.0)", "it allocates memory"),
        ("raise ValueError('no', params[0])", "it allocates memory"),
        ("state.real[0] = twice(3)", "twice is plain Python; decorate it with small"),
        ("state.real[0] = unknown + 1", "NameError: name 'unknown' is not defined"),
        ("limit(intents, 1, BUY, 100)", "a helper takes (intents, token, side, shares, price_e4): missing a"),
        ("return 5", "it returns a value"),
        ("state.real[0] = params[1] + signal", "No implementation of function add for add(float64, SIGNAL)"),
        ("state.real[0] = min(x for x in params)", "The use of yield in a closure is unsupported"),
    ],
)  # fmt: skip
def test_what_the_compiler_refuses_is_told_in_a_sentence(tmp_path: Path, line: str, said: str) -> None:
    require("needs the compiler")
    told = refusal(StrategyUncompilable, tmp_path, HEAD + DECIDE.replace("pass", f"if params[0] > 1:\n        {line}"))
    assert told == f"mine.py:11: decide does not compile: {told.split('compile: ')[1]}"
    assert said in told and told.endswith(f"\n    {line}")


def test_what_the_compiler_refuses_without_a_line_is_told_with_the_calls(tmp_path: Path) -> None:
    require("needs the compiler")
    told = refusal(StrategyUncompilable, tmp_path, DECIDE.replace("pass", "with open('x') as y:\n        pass"))
    assert told.startswith("mine.py:1: decide does not compile: The 'with (context manager) as (variable):' construct")


def test_helpers_of_his_own_are_decorated_and_may_stand_in_a_file_beside(tmp_path: Path) -> None:
    (tmp_path / "beside_mine.py").write_text(
        "from venym.strategies.interface import hot\n\n\n@hot\ndef half(x):\n    return x / 2\n"
    )
    path = write(
        tmp_path,
        "from beside_mine import half\nfrom venym.strategies.interface import small\n\n\n"
        "@small\ndef twice(x):\n    return 2 * x\n\n\n"
        + DECIDE.replace("pass", "state.real[0] = twice(half(signal.y[0]))"),
    )
    load(path)


def test_two_files_of_one_name_are_two_strategies_and_so_are_the_files_beside_them(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a", "b")]
    for k, folder in enumerate(folders):
        folder.mkdir()
        (folder / "settings_beside.py").write_text(f"K = {k}\n")
        write(folder, 'from settings_beside import K\nPARAMS = {"k": K}\n' + DECIDE)
    assert [load(folder / "mine.py").values() for folder in folders] == [(0.0,), (1.0,)]
