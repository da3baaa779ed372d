"""LightGBM text of trees made by hand, artifacts around it, and rows that lie where trees are delicate."""

from pathlib import Path

import numpy as np

from tests.naive.trees import Split, Tree
from venym.models.artifact import load, wrap_lightgbm
from venym.models.model import Model

MISSING = ("none", "zero", "nan")


def names(count: int) -> list[str]:
    return [f"f{k}" for k in range(count)]


def tree_text(tree: Tree, index: int) -> str:
    """One tree as LightGBM writes it."""
    columns: dict[str, list[object]] = {
        "split_feature": [], "threshold": [], "decision_type": [], "left_child": [], "right_child": [],
    }  # fmt: skip
    leaves: list[float] = []

    def enter(part: Tree) -> int:
        if isinstance(part, float):
            leaves.append(part)
            return -len(leaves)
        number = len(columns["threshold"])
        kind = MISSING.index(part.missing) << 2 | part.default_left << 1
        for key, value in zip(columns, (part.feature, repr(part.threshold), kind, None, None), strict=True):
            columns[key].append(value)
        columns["left_child"][number] = enter(part.left)
        columns["right_child"][number] = enter(part.right)
        return number

    enter(tree)
    lines = [f"Tree={index}", f"num_leaves={len(leaves)}", "num_cat=0"]
    if len(leaves) > 1:
        lines += [f"{key}={' '.join(map(str, column))}" for key, column in columns.items()]
    lines += [f"leaf_value={' '.join(map(repr, leaves))}", "is_linear=0", "shrinkage=1", "", ""]
    return "\n".join(lines) + "\n"


def model_text(
    trees: list[Tree], features: int, outputs: int = 1, objective: str = "regression", average: bool = False
) -> str:
    """A whole model as LightGBM writes it."""
    bodies = [tree_text(tree, k) for k, tree in enumerate(trees)]
    lines = [
        "tree",
        "version=v4",
        f"num_class={outputs}",
        f"num_tree_per_iteration={outputs}",
        "label_index=0",
        f"max_feature_idx={features - 1}",
        f"objective={objective}",
        *["average_output"] * average,
        f"feature_names={' '.join(names(features))}",
        f"feature_infos={' '.join(['[-1:1]'] * features)}",
        f"tree_sizes={' '.join(str(len(body)) for body in bodies)}",
        "",
    ]
    return "\n".join(lines) + "\n" + "".join(bodies) + "end of trees\n\nfeature_importances:\n\nparameters:\n"


def model_of(folder: Path, text: str, features: int, outputs: int = 1, **options: object) -> Model:
    """Through both files and the loader."""
    path = folder / "made.txt"
    path.write_text(text)
    made = wrap_lightgbm(path, "hash", [f"y{k}" for k in range(outputs)], **options)  # type: ignore[arg-type]
    return load(made, names(features), "hash")


def delicate_values(thresholds: list[float]) -> np.ndarray:
    """float32 values at, next to and far from thresholds, and all that is odd."""
    tiny = np.float32(1e-35)
    odd = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-45, -1e-45, 1e-38, 1e-36, 1e-34, -1e-34, 3e38, -3e38, 1.0, -1.0]
    near = np.array([*thresholds, tiny, -tiny], np.float64).clip(-3e38, 3e38).astype(np.float32)
    up, down = np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))
    return np.unique(np.concatenate([np.array(odd, np.float32), near, up, down]).view(np.uint32)).view(np.float32)


def delicate_rows(thresholds: dict[int, list[float]], features: int, count: int, seed: int = 0) -> np.ndarray:
    """(count, features) float32: half of the cells delicate, half ordinary."""
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(count, features)).astype(np.float32)
    for feature in range(features):
        chosen = chance.random(count) < 0.5
        rows[chosen, feature] = chance.choice(delicate_values(thresholds.get(feature, [])), chosen.sum())
    return rows


def bits(values: object) -> bytes:
    """Doubles as octets, so that -0 is not 0 and NaN is itself."""
    return np.asarray(values, np.float64).tobytes()


def split(feature: int, threshold: float, missing: str, default_left: bool, left: Tree, right: Tree) -> Split:
    return Split(feature, threshold, missing, default_left, left, right)
