"""Decision trees over flat arrays: eight of them walked side by side, a fixed number of steps.

    row ──▶ slots: one double for each (feature, how a missing value goes) that a split looks at
    node: words  | left child << 16 | slot |      values | threshold |      the right child follows the left one
    leaf: words  | itself     << 16 | 0    |      values | its value |      slot 0 is -inf: a leaf leads to itself

    step: node = left child + not (slot <= threshold)

What is missing was turned into -inf (goes left) or NaN (goes right) in its slot beforehand, so that a step has no
branch. A group of eight is walked as many steps as its deepest tree is deep; leaves are then summed in tree order, in
double, from 0: bit for bit what LightGBM gives. Trees that only fill a group up are a leaf of 0.

    body words   | slots at, slots, groups at, groups, nodes at | slots | groups | nodes |
    group        | output, depth, eight roots |
"""

import math
from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import plug_in, small
from .model import BODY, HEADER_VALUES, OUTPUTS, PREDICT, Link, Model, apply_link, lay_header

SLOTS_AT, SLOTS, GROUPS_AT, GROUPS, NODES_AT, BODY_WORDS = range(6)
WIDTH = 8  # trees in a group; the kernel spells them out
OUTPUT, DEPTH, ROOTS, GROUP_WORDS = 0, 1, 2, 2 + WIDTH
SLOT_BITS = 16

ZERO = float(np.float32(1e-35))  # LightGBM: up to here a value is zero

# How a missing value goes; a slot is feature << HOW_BITS | how.
AS_ZERO, ZERO_RIGHT, ZERO_LEFT, NAN_RIGHT, NAN_LEFT = range(5)
HOW_BITS = 3


class Tree(NamedTuple):
    """One tree. Node k splits on feature[k]: left[k] if it is <= threshold[k] or missing and how[k] says so, else
    right[k]. A child c >= 0 is a node, a child c < 0 is leaf ~c. Without nodes leaf 0 is the tree."""

    feature: list[int]
    threshold: list[float]
    how: list[int]
    left: list[int]
    right: list[int]
    leaf: list[float]


class TreeError(ValueError):
    """The children of a tree do not make a tree."""


def check_tree(tree: Tree) -> None:
    """Raise TreeError unless every node but the first, and every leaf, is the child of exactly one node, all are
    reached from node 0, no threshold is NaN and every leaf is finite. left, right, threshold and how are as long as
    feature."""
    nodes, leaves = len(tree.feature), len(tree.leaf)
    if nodes != leaves - 1:
        raise TreeError(f"{nodes} splits and {leaves} leaves")
    for k, number in enumerate(tree.threshold):
        if math.isnan(number):
            raise TreeError(f"threshold {k} is {number}")
    for k, number in enumerate(tree.leaf):
        if not math.isfinite(number):
            raise TreeError(f"leaf_value {k} is {number}")
    seen_nodes, seen_leaves = [False] * nodes, [False] * leaves
    waiting = [0] if nodes else [-1]
    while waiting:
        child = waiting.pop()
        seen, index = (seen_nodes, child) if child >= 0 else (seen_leaves, ~child)
        if index >= len(seen):
            raise TreeError(f"child {child} is neither one of the {nodes} splits nor one of the {leaves} leaves")
        if seen[index]:
            raise TreeError(f"child {child} is reached twice")
        seen[index] = True
        if child >= 0:
            waiting += (tree.left[child], tree.right[child])
    if not all(seen_nodes) or not all(seen_leaves):
        raise TreeError("a split or leaf is not reached")


def lay_tree(tree: Tree, first: int, slot_of: dict[int, int]) -> tuple[list[int], list[float], int]:
    """The tree's nodes in the order they are walked, the root at node index `first`: words, values, depth."""
    words, values, depth = [0], [0.0], 0
    level = [(0 if tree.feature else -1, 0)]
    while True:
        below = []
        for child, place in level:
            if child < 0:
                words[place], values[place] = (first + place) << SLOT_BITS, tree.leaf[~child]
                continue
            slot = slot_of[tree.feature[child] << HOW_BITS | tree.how[child]]
            words[place] = (first + len(words)) << SLOT_BITS | slot
            values[place] = tree.threshold[child]
            below += [(tree.left[child], len(words)), (tree.right[child], len(words) + 1)]
            words += (0, 0)
            values += (0.0, 0.0)
        if not below:
            return words, values, depth
        level, depth = below, depth + 1


def build_trees(
    kind: str,
    features: tuple[str, ...],
    outputs: tuple[str, ...],
    trees: list[Tree],
    link: Link,
    divisor: float = 1.0,
) -> Model:
    """A model that sums trees k, k + outputs, k + 2 outputs, ... into output k.

    The trees went through `check_tree`, and their features are below len(features).
    """
    pairs = sorted({f << HOW_BITS | how for tree in trees for f, how in zip(tree.feature, tree.how, strict=True)})
    slot_of = {pair: k + 1 for k, pair in enumerate(pairs)}
    filling = Tree([], [], [], [], [], [0.0])
    groups: list[int] = []
    words: list[int] = []
    values: list[float] = []
    for output in range(len(outputs)):
        own = trees[output :: len(outputs)]
        own = own + [filling] * (-len(own) % WIDTH)
        for first in range(0, len(own), WIDTH):
            roots, deepest = [], 0
            for tree in own[first : first + WIDTH]:
                roots.append(len(words))
                tree_words, tree_values, depth = lay_tree(tree, len(words), slot_of)
                words += tree_words
                values += tree_values
                deepest = max(deepest, depth)
            groups += [output, deepest, *roots]
    used = sorted({pair >> HOW_BITS for pair in pairs})
    room = BODY_WORDS + 1 + len(pairs) + len(groups) + len(words)
    made, numbers = lay_header(len(features), len(outputs), used, link, room, len(values), divisor)
    body = int(made[BODY])
    at = body + BODY_WORDS
    for word, part in ((SLOTS_AT, [0, *pairs]), (GROUPS_AT, groups), (NODES_AT, words)):
        made[body + word] = at
        made[at : at + len(part)] = part
        at += len(part)
    made[body + SLOTS], made[body + GROUPS] = 1 + len(pairs), len(groups) // GROUP_WORDS
    numbers[HEADER_VALUES:] = values
    return Model(kind, features, outputs, made, numbers, 1 + len(pairs), predict_trees)


@small
def fill_slots(words, x, scratch):
    """One double for each feature and way of going when missing."""
    body = words[BODY]
    at = words[body + SLOTS_AT]
    scratch[0] = -math.inf
    for k in range(1, words[body + SLOTS]):
        pair = slot_at(words, at + k)
        how = pair & ((1 << HOW_BITS) - 1)
        value = np.float64(slot_at(x, pair >> HOW_BITS))
        if abs(value) <= ZERO:
            value = 0.0
        missing = math.isnan(value)
        if how == AS_ZERO:
            value = 0.0 if missing else value
        else:
            if how <= ZERO_LEFT:
                missing = missing or value == 0.0
            if missing:
                value = -math.inf if how in (ZERO_LEFT, NAN_LEFT) else math.nan
        scratch[k] = value


@small
def child(nodes, thresholds, scratch, node):
    """The child that the row goes to; a leaf leads to itself."""
    word = slot_at(nodes, node)
    right = not (slot_at(scratch, word & ((1 << SLOT_BITS) - 1)) <= slot_at(thresholds, node))
    return (word >> SLOT_BITS) + np.int64(right)


@plug_in(PREDICT)
def predict_trees(words, values, x, scratch, y):
    body = words[BODY]
    fill_slots(words, x, scratch)
    for k in range(words[OUTPUTS]):
        y[k] = 0.0
    nodes, leaves = words[words[body + NODES_AT] :], values[HEADER_VALUES:]
    first = words[body + GROUPS_AT]
    for group in range(words[body + GROUPS]):
        at = first + group * GROUP_WORDS
        a, b, c, d = words[at + ROOTS], words[at + ROOTS + 1], words[at + ROOTS + 2], words[at + ROOTS + 3]
        e, f, g, h = words[at + ROOTS + 4], words[at + ROOTS + 5], words[at + ROOTS + 6], words[at + ROOTS + 7]
        for _ in range(words[at + DEPTH]):
            a, b = child(nodes, leaves, scratch, a), child(nodes, leaves, scratch, b)
            c, d = child(nodes, leaves, scratch, c), child(nodes, leaves, scratch, d)
            e, f = child(nodes, leaves, scratch, e), child(nodes, leaves, scratch, f)
            g, h = child(nodes, leaves, scratch, g), child(nodes, leaves, scratch, h)
        total = y[words[at + OUTPUT]]
        total += slot_at(leaves, a)
        total += slot_at(leaves, b)
        total += slot_at(leaves, c)
        total += slot_at(leaves, d)
        total += slot_at(leaves, e)
        total += slot_at(leaves, f)
        total += slot_at(leaves, g)
        total += slot_at(leaves, h)
        y[words[at + OUTPUT]] = total
    apply_link(words, values, y)
