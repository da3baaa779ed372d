"""A linear model, by the formula."""


def scores(weights: list[list[float]], intercept: list[float], x: list[float]) -> list[float]:
    """Of features whose weights are all zero nothing is seen."""
    made = []
    for row, base in zip(weights, intercept, strict=True):
        total = base
        for k, weight in enumerate(row):
            if any(other[k] != 0 for other in weights):
                total += weight * x[k]
        made.append(total)
    return made
