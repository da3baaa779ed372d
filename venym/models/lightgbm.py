"""LightGBM's text format, versions 3 and 4, read by hand.

    tree                              header: name=value, one a line; feature_names in column order
    version=v4  ...
    tree_sizes=488 489
                                      num_leaves=N; split_feature, threshold, decision_type, left_child and right_child
    Tree=0                            of N - 1 nodes; leaf_value of N. A child c < 0 is leaf ~c
    num_leaves=4  ...                 decision_type: bit 0 categorical, bit 1 missing goes left, bits 2-3 what is
                                      missing (0 nothing, 1 zero and NaN, 2 NaN)
    end of trees                      importances and parameters follow, which a prediction does not need

Source: LightGBM 4, src/io/tree.cpp and gbdt_model_text.cpp.
"""

import math
import re
from pathlib import Path
from typing import NamedTuple, NoReturn

from .model import EXPONENTIAL, IDENTITY, SIGMOID, SOFTMAX, Link, ModelGarbled, ModelUnsupported
from .trees import AS_ZERO, NAN_LEFT, NAN_RIGHT, ZERO_LEFT, ZERO_RIGHT, Tree, TreeError, check_tree

VERSIONS = ("v3", "v4")
HOW = {
    (0, 0): AS_ZERO, (0, 1): AS_ZERO, (1, 0): ZERO_RIGHT, (1, 1): ZERO_LEFT, (2, 0): NAN_RIGHT, (2, 1): NAN_LEFT,
}  # fmt: skip
HEADER_KEYS = {"version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx", "objective",
               "feature_names", "feature_infos", "tree_sizes", "monotone_constraints"}  # fmt: skip
SPLIT_KEYS = ("split_feature", "threshold", "decision_type", "left_child", "right_child")
IGNORED_TREE_KEYS = {"split_gain", "leaf_weight", "leaf_count", "internal_value", "internal_weight", "internal_count",
                     "leaf_parent", "leaf_depth", "shrinkage"}  # fmt: skip
TREE_KEYS = {"num_leaves", "num_cat", "is_linear", "leaf_value", *SPLIT_KEYS} | IGNORED_TREE_KEYS

# Objectives by what turns their sum into the response. `regression sqrt` and others are refused by name.
IDENTITY_OBJECTIVES = {"regression", "regression_l2", "regression_l1", "huber", "fair", "quantile", "mape",
                       "lambdarank", "rank_xendcg"}  # fmt: skip
EXPONENTIAL_OBJECTIVES = {"poisson", "gamma", "tweedie"}

_REAL = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_LIMIT = re.compile(rf"[-+]?inf|{_REAL.pattern}")  # a split of missing from all else stands at infinity
_WHOLE = re.compile(r"-?[0-9]{1,9}")


class Entry(NamedTuple):
    """The text right of a line's =, and the line's number from 1."""

    text: str
    line: int


class Booster(NamedTuple):
    """What a text file says. trees: of iteration 0, one for each output, then of iteration 1, ..."""

    features: tuple[str, ...]
    outputs: int
    trees: list[Tree]
    objective: str  # "" when trained with a function of the user's
    response: Link  # from raw score to response
    average: bool  # the sum is divided by the number of iterations

    @property
    def iterations(self) -> int:
        return len(self.trees) // self.outputs


def read_text(text: str, path: Path | str) -> Booster:
    """Read a model's text; `path` is for messages. Raises ModelGarbled and ModelUnsupported, with the line."""
    return _Reader(text, path).read()


class _Reader:
    def __init__(self, text: str, path: Path | str) -> None:
        self.lines = [line.removesuffix("\r") for line in text.split("\n")]
        self.path = path
        self.at = 0  # lines read

    def read(self) -> Booster:
        if self.lines[0] != "tree":
            self.garbled(1, "does not begin with 'tree'")
        self.at = 1
        header, average = self.header()
        version = self.need(header, "version", 1)
        if version.text not in VERSIONS:
            self.unsupported(version.line, f"version {version.text!r}; {' and '.join(VERSIONS)} are read")
        names = self.need(header, "feature_names", 1)
        features = tuple(names.text.split())
        if self.whole(self.need(header, "max_feature_idx", 1)) != len(features) - 1:
            self.garbled(names.line, f"{len(features)} feature names do not go up to max_feature_idx")
        per_iteration = self.need(header, "num_tree_per_iteration", 1)
        outputs = self.whole(per_iteration)
        if outputs < 1:
            self.garbled(per_iteration.line, "num_tree_per_iteration is not positive")
        objective = header.get("objective", Entry("", 1))
        sizes = self.need(header, "tree_sizes", 1)
        trees = self.trees(len(features))
        if len(trees) != len(sizes.text.split()):
            self.garbled(sizes.line, f"{len(sizes.text.split())} tree_sizes, {len(trees)} trees")
        if not trees or len(trees) % outputs:
            self.garbled(self.at, f"{len(trees)} trees are not whole iterations of {outputs}")
        response = self.response(objective, outputs)
        return Booster(features, outputs, trees, objective.text, response, average)

    def header(self) -> tuple[dict[str, Entry], bool]:
        """Every name=value up to the first tree, and whether outputs are averaged."""
        entries: dict[str, Entry] = {}
        average = False
        while not self.peek().startswith("Tree="):
            line = self.next()
            if line == "average_output":
                average = True
            elif line:
                self.enter(entries, line, HEADER_KEYS, "the header")
        return entries, average

    def trees(self, features: int) -> list[Tree]:
        """Every tree, up to the line that ends them."""
        trees: list[Tree] = []
        while True:
            line = self.next()
            if line == "end of trees":
                return trees
            if line != f"Tree={len(trees)}":
                self.garbled(self.at, f"{line[:40]!r} where Tree={len(trees)} or 'end of trees' should be")
            first = self.at
            entries: dict[str, Entry] = {}
            while not (self.peek().startswith("Tree=") or self.peek() == "end of trees"):
                line = self.next()
                if line:
                    self.enter(entries, line, TREE_KEYS, "a tree", {"num_cat", "cat_boundaries", "cat_threshold"})
            trees.append(self.tree(entries, first, features))

    def tree(self, entries: dict[str, Entry], first: int, features: int) -> Tree:
        """One tree, checked: `first` is the line it begins in."""
        for key, construct in (("num_cat", "categorical splits"), ("is_linear", "a linear tree")):
            if key in entries and self.whole(entries[key]) != 0:
                self.unsupported(entries[key].line, f"{construct} ({key}={entries[key].text})")
        leaves = self.whole(self.need(entries, "num_leaves", first))
        values = self.reals(self.need(entries, "leaf_value", first), leaves)
        if leaves == 1:
            tree = Tree([], [], [], [], [], values)
        else:
            lines = {key: self.need(entries, key, first) for key in SPLIT_KEYS}
            numbers = {key: self.wholes(lines[key], leaves - 1) for key in SPLIT_KEYS if key != "threshold"}
            for feature in numbers["split_feature"]:
                if not 0 <= feature < features:
                    self.garbled(lines["split_feature"].line, f"feature {feature} of {features}")
            how = [self.how(kind, lines["decision_type"].line) for kind in numbers["decision_type"]]
            thresholds = [float(word) for word in self.words(lines["threshold"], leaves - 1, _LIMIT)]
            tree = Tree(
                numbers["split_feature"], thresholds, how, numbers["left_child"], numbers["right_child"], values
            )
        try:
            check_tree(tree)
        except TreeError as error:
            self.garbled(first, f"not a tree: {error}")
        return tree

    def how(self, kind: int, line: int) -> int:
        """How a missing value goes, of a decision_type."""
        if kind & 1:
            self.unsupported(line, f"categorical splits (decision_type {kind})")
        if (kind >> 2, kind >> 1 & 1) not in HOW:
            self.garbled(line, f"decision_type {kind}")
        return HOW[kind >> 2, kind >> 1 & 1]

    def response(self, objective: Entry, outputs: int) -> Link:
        """What turns sums into the objective's response."""
        name, *options = objective.text.split() or [""]
        given = dict(option.partition(":")[::2] for option in options)
        allowed = {"binary": {"sigmoid"}, "multiclass": {"num_class"}, "multiclassova": {"num_class", "sigmoid"}}
        unknown = set(given) - allowed.get(name, set())
        if unknown:
            self.unsupported(objective.line, f"objective {objective.text!r} ({sorted(unknown)[0]})")
        if outputs > 1 and name not in ("", "multiclass", "multiclassova"):
            self.garbled(objective.line, f"objective {name!r} with {outputs} trees an iteration")
        if "num_class" in given and given["num_class"] != str(outputs):
            self.garbled(objective.line, f"num_class {given['num_class']!r}, {outputs} trees an iteration")
        if not name or name in IDENTITY_OBJECTIVES:
            return Link(IDENTITY)
        if name == "multiclass":
            return Link(SOFTMAX)
        if name in EXPONENTIAL_OBJECTIVES:
            return Link(EXPONENTIAL)
        if name in ("binary", "multiclassova", "cross_entropy"):
            (scale,) = self.reals(Entry(given.get("sigmoid", "1"), objective.line), 1)
            if not 0 < scale < math.inf:
                self.garbled(objective.line, f"sigmoid:{given['sigmoid']}")
            return Link(SIGMOID, scale)
        self.unsupported(objective.line, f"objective {objective.text!r}")

    def peek(self) -> str:
        if self.at >= len(self.lines):
            self.garbled(len(self.lines), "ends before 'end of trees'")
        return self.lines[self.at]

    def next(self) -> str:
        line = self.peek()
        self.at += 1
        return line

    def enter(
        self,
        entries: dict[str, Entry],
        line: str,
        known: set[str],
        where: str,
        passed: set[str] = frozenset(),  # type: ignore[assignment]
    ) -> None:
        """Take a name=value line in; `passed` are names that another line's check will refuse better."""
        key, equals, text = line.partition("=")
        if not equals:
            self.garbled(self.at, f"{line[:40]!r} is not name=value")
        if key not in known and key not in passed:
            self.unsupported(self.at, f"{key[:40]!r} in {where}")
        if key in entries:
            self.garbled(self.at, f"a second {key}")
        entries[key] = Entry(text, self.at)

    def need(self, entries: dict[str, Entry], key: str, line: int) -> Entry:
        if key not in entries:
            self.garbled(line, f"has no {key}")
        return entries[key]

    def whole(self, entry: Entry) -> int:
        return self.wholes(entry, 1)[0]

    def wholes(self, entry: Entry, count: int) -> list[int]:
        return [int(word) for word in self.words(entry, count, _WHOLE)]

    def reals(self, entry: Entry, count: int) -> list[float]:
        return [float(word) for word in self.words(entry, count, _REAL)]

    def words(self, entry: Entry, count: int, form: "re.Pattern[str]") -> list[str]:
        words = entry.text.split()
        if len(words) != count:
            self.garbled(entry.line, f"{len(words)} numbers where {count} should be")
        for word in words:
            if not form.fullmatch(word):
                self.garbled(entry.line, f"{word[:40]!r} is not a number that can stand here")
        return words

    def garbled(self, line: int, what: str) -> NoReturn:
        raise ModelGarbled(f"{self.path}:{line}: {what}")

    def unsupported(self, line: int, what: str) -> NoReturn:
        raise ModelUnsupported(f"{self.path}:{line}: {what}")
