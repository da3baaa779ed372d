"""The list of permitted skips, tried on real pytest runs of made-up tests."""

from collections.abc import Callable

import pytest

from tests import skips

TESTS = """
import pytest

from tests.skips import require

def test_always(): pass
def test_by_moon(): require("needs moon")
def test_by_sun(): require("needs sun")
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs tests (a file test_it.py) against the list's lines; the sun is there, the moon is missing, luck
    is unclear."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # each run would import them anew
    monkeypatch.setattr(
        skips, "NEEDS", {"needs moon": lambda: False, "needs sun": lambda: True, "needs luck": lambda: None}
    )
    pytester.makeconftest("from tests.skips import pytest_addoption, pytest_configure")

    def run(lines: str, tests: str = TESTS, *options: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=tests)
        pytester.path.joinpath("list.txt").write_text(lines)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "--skips", "list.txt", *options)

    return run


def test_passes_when_exactly_the_listed_tests_skip(run: Run) -> None:
    result = run("# by night\ntest_it.py::test_by_moon\tneeds moon\ntest_it.py::test_by_sun\tneeds sun\n")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.no_fnmatch_line("*skips differ*")


def test_a_reason_may_say_why_it_needs_that(run: Run) -> None:
    tests = "import pytest\ndef test_it(): pytest.skip('needs moon: to see by: night')"
    assert run("test_it.py::test_it\tneeds moon\n", tests).ret == pytest.ExitCode.OK


def test_an_unlisted_skip_fails_and_says_what_to_list(run: Run) -> None:
    result = run("test_it.py::test_by_sun\tneeds sun\n")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*skips differ from list.txt*",
            "skipped, but not listed: test_it.py::test_by_moon\tneeds moon",
        ]
    )


def test_a_skip_listed_for_another_need_fails(run: Run) -> None:
    result = run("test_it.py::test_by_moon\tneeds sun\n")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["skipped, but not listed: test_it.py::test_by_moon\tneeds moon"])


def test_a_skip_for_what_is_there_fails(run: Run) -> None:
    tests = "import pytest\ndef test_by_sun(): pytest.skip('needs sun')"
    result = run("test_it.py::test_by_sun\tneeds sun\n", tests)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["test_it.py::test_by_sun: skipped as needs sun, which is there"])


def test_a_listed_test_that_runs_without_its_need_fails(run: Run) -> None:
    result = run("test_it.py\tneeds moon\n")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["test_it.py::test_always: ran, though listed as needs moon, which is missing"])


@pytest.mark.parametrize("body", ["pass", "pytest.skip('needs luck')"])
def test_where_only_trying_tells_a_listed_test_may_skip_or_run(run: Run, body: str) -> None:
    tests = f"import pytest\ndef test_it(): {body}"
    assert run("test_it.py::test_it\tneeds luck\n", tests).ret == pytest.ExitCode.OK


def test_where_only_trying_tells_no_other_test_may_skip(run: Run) -> None:
    assert run("", "import pytest\ndef test_it(): pytest.skip('needs luck')").ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    "body",
    [
        "def test_it(): pytest.skip('no wish')",
        "pytestmark = pytest.mark.skipif(True, reason='no wish')\ndef test_it(): pass",
        "@pytest.mark.skip('no wish')\ndef test_it(): pass",
        "pytest.skip('no wish', allow_module_level=True)",
    ],
)
def test_a_skip_for_any_other_reason_fails(run: Run, body: str) -> None:
    result = run("", f"import pytest\n{body}")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["test_it.py*: skipped for an unlisted reason: no wish"])


def test_an_expected_failure_is_no_skip(run: Run) -> None:
    result = run("", "import pytest\n@pytest.mark.xfail\ndef test_it(): assert False")
    assert result.ret == pytest.ExitCode.OK


def test_a_whole_module_may_be_listed(run: Run) -> None:
    result = run("test_it.py\tneeds moon\n", "import pytest\npytest.skip('needs moon', allow_module_level=True)")
    result.stdout.no_fnmatch_line("*skips differ*")


def test_a_line_covers_every_parameter_but_no_longer_name(run: Run) -> None:
    tests = """
import pytest
from tests.skips import require
@pytest.mark.parametrize("n", [1, 2])
def test_moon(n): require("needs moon")
def test_moon_too(): require("needs moon")
"""
    result = run("test_it.py::test_moon\tneeds moon\n", tests)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["skipped, but not listed: test_it.py::test_moon_too\tneeds moon"])
    result.stdout.no_fnmatch_line("*test_it.py::test_moon[[]*")


def test_where_only_some_parameters_skip_those_are_to_be_listed(run: Run) -> None:
    tests = """
import pytest
from tests.skips import require
@pytest.mark.parametrize("need", ["needs moon", "needs sun"])
def test_it(need): require(need)
"""
    line = "test_it.py::test_it[needs moon]\tneeds moon"
    run("", tests).stdout.fnmatch_lines([f"skipped, but not listed: {line.replace('[', '[[]')}"])
    assert run(line + "\n", tests).ret == pytest.ExitCode.OK


def test_a_line_that_fits_no_test_fails(run: Run) -> None:
    result = run("test_it.py::test_gone\tneeds sun\n", "def test_always(): pass")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["listed, but there is no such test: test_it.py::test_gone\tneeds sun"])


def test_a_deselected_test_is_not_judged(run: Run) -> None:
    result = run("test_it.py::test_by_moon\tneeds moon\n", TESTS, "-k", "always")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, deselected=2)


def test_a_failing_test_fails_as_ever(run: Run) -> None:
    assert run("", "def test_it(): assert False").ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("line", ["test_it.py::test_by_moon needs moon", "test_it.py\tneeds mon", "test_it.py\t"])
def test_a_malformed_line_is_a_usage_error(run: Run, line: str) -> None:
    result = run(line)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*list.txt:1: not test<TAB>need*"])
