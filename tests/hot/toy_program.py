"""A program of three files that compiles two functions, and what its starts should tell."""

import os
import shutil
from pathlib import Path

import pytest

from tests.hot.starts import Report

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root: to be somebody else"
)

FACTOR = "FACTOR = 3\n"
TOY = """
import numpy as np
from factor import FACTOR
from venym.hot.jit import hot, small

@small
def scaled(value):
    return value * FACTOR

@hot
def total(values):
    held = 0
    for i in range(values.shape[0]):
        held += scaled(values[i])
    return held

@hot
def largest(values):
    held = values[0]
    for i in range(values.shape[0]):
        if values[i] > held:
            held = values[i]
    return held

def run():
    return [int(total(np.arange(5))), int(largest(np.arange(5)))]
"""
RIGHT = [30, 4]
ALL = ["largest", "total"]


def entries(root: Path) -> list[Path]:
    return sorted(root.rglob("*.code"))


def assert_cold(report: Report, warnings: int = 0) -> None:
    assert (report.result, report.compiled, len(report.warnings)) == (RIGHT, ALL, warnings), report


def assert_warm(report: Report, warnings: int = 0) -> None:
    assert (report.result, report.compiled, len(report.warnings)) == (RIGHT, [], warnings), report
