"""Trees as LightGBM means them, by recursion; the links, by the book.

A tree is a leaf's value, or a Split. `missing` is what a split takes for missing: "none", "zero" or "nan".
"""

import math
from typing import NamedTuple, TypeAlias

ZERO = 1.0000000180025095e-35  # the float 1e-35


class Split(NamedTuple):
    feature: int
    threshold: float
    missing: str
    default_left: bool
    left: "Tree"
    right: "Tree"


Tree: TypeAlias = "float | Split"


def leaf_of(tree: Tree, x: list[float]) -> float:
    if isinstance(tree, float):
        return tree
    value = x[tree.feature]
    if -ZERO <= value <= ZERO:
        value = 0.0
    if math.isnan(value) and tree.missing != "nan":
        value = 0.0
    if (tree.missing == "zero" and value == 0) or (tree.missing == "nan" and math.isnan(value)):
        left = tree.default_left
    else:
        left = value <= tree.threshold
    return leaf_of(tree.left if left else tree.right, x)


def features_of(tree: Tree) -> set[int]:
    if isinstance(tree, float):
        return set()
    return {tree.feature} | features_of(tree.left) | features_of(tree.right)


def scores(trees: list[Tree], outputs: int, x: list[float]) -> list[float]:
    """Sums from 0, in tree order."""
    totals = [0.0] * outputs
    for k, tree in enumerate(trees):
        totals[k % outputs] += leaf_of(tree, x)
    return totals


def sigmoid(score: float, scale: float) -> float:
    try:
        return 1 / (1 + math.exp(-scale * score))
    except OverflowError:
        return 0.0


def softmax(scores: list[float]) -> list[float]:
    powers = [math.exp(score - max(scores)) for score in scores]
    total = 0.0
    for power in powers:
        total += power
    return [power / total for power in powers]
