"""The lists of tables among the settings: [[channels]], [[instruments]] and [[strategies]].

    [[strategies]]             strategies[0], to --set also strategies.taker
    name = "taker"             strategies[0].name
    params = { shares = 50 }   strategies[0].params.shares

Only the file makes entries; ``--set`` changes what they say. An instrument that a strategy names and nobody lists is
listed behind the others, at the defaults.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .given import FILE, Given, Layers, Place, located, suggest, unreadable
from .settings import LABELS, LISTS, STRATEGIES_MAX


def read_entries(layers: Layers, table: str, body: Any, path: Path) -> None:
    """The entries of a list in the file."""
    if not isinstance(body, list):
        layers.wrong.append(f"{table} in {path}: a list, so each of its entries is written [[{table}]]")
        return
    for index, entry in enumerate(body):
        owner = f"{table}[{index}]"
        label = entry.get(LABELS[table]) if isinstance(entry, dict) else None
        layers.labels[table].append(label if isinstance(label, str) else "")
        if not isinstance(entry, dict):
            layers.wrong.append(f"{owner} in {path}: must be a table, written [[{table}]]")
            continue
        for key, value in entry.items():
            if known_key(layers, Place(table, index, key), f"{owner}.{key} in {path}"):
                read_value(layers, Place(table, index, key), value, path)
        for key, field in LISTS[table].model_fields.items():
            if field.is_required() and key not in entry:
                layers.wrong.append(f"{owner}{f' ({label})' if label else ''} in {path}: {key} is missing")


def read_value(layers: Layers, place: Place, value: Any, path: Path) -> None:
    """A key's value in the file; a table's items one by one."""
    if place.kind is not dict or not isinstance(value, dict):
        layers.add(Given(place, value, FILE, str(path)))
        return
    layers.add(Given(place, {}, FILE, str(path)))
    for item, held in value.items():
        layers.add(Given(place._replace(item=item), held, FILE, str(path)))


def known_key(layers: Layers, place: Place, described: str) -> bool:
    """Is there such a setting? Notes it if there is none."""
    names = list(place.fields.model_fields)
    if place.key not in names:
        close = suggest(place.key, names, f"{place.owner}.")
        layers.wrong.append(f"{described}: no such setting{close or '; there are ' + ', '.join(names)}")
    return place.key in names


def find_entry(layers: Layers, table: str, rest: str, described: str) -> tuple[int, str] | None:
    """An entry and the key behind it, out of ``[0].key`` or ``.NAME.key``; a name may have dots in it."""
    labels = layers.labels[table]
    bracketed = re.fullmatch(r"\[(0|[1-9][0-9]{0,5})\]\.(.*)", rest, re.DOTALL)
    if bracketed and int(bracketed[1]) < len(labels):
        return int(bracketed[1]), bracketed[2]
    named = [index for index, label in enumerate(labels) if label and rest.startswith(f".{label}.")]
    if named:
        index = max(named, key=lambda index: len(labels[index]))
        return index, rest[len(labels[index]) + 2 :]
    there = ", ".join(f"{table}.{label}" if label else f"{table}[{index}]" for index, label in enumerate(labels))
    layers.wrong.append(f"{described}: no such entry; " + (f"there are {there}" if there else f"{table} is empty"))
    return None


def imply_instruments(layers: Layers) -> None:
    """List the instruments that strategies name and nobody listed."""
    for given in [given for given in layers.given.values() if given.place[::2] == ("strategies", "instruments")]:
        for symbol in given.value:
            if symbol not in layers.labels["instruments"]:
                place = Place("instruments", len(layers.labels["instruments"]), "symbol")
                layers.labels["instruments"].append(symbol)
                layers.add(Given(place, symbol, given.kind, given.where))


def check_entries(layers: Layers) -> None:
    """What no entry shows by itself: names that stand twice, files that are not there, a second model."""
    count = len(layers.labels["strategies"])
    if count > STRATEGIES_MAX:
        layers.wrong.append(f"strategies: there are {count}, and at most {STRATEGIES_MAX} can run")
    _check_different(layers, _column(layers, "channels", "name"))
    _check_different(layers, _column(layers, "instruments", "symbol"))
    _check_different(layers, _column(layers, "instruments", "fix_symbol", otherwise="symbol"))
    _check_different(layers, _column(layers, "strategies", "name"))
    first: Given | None = None
    for given in _column(layers, "strategies", "file"):
        _check_readable(layers, given)
    for given in _column(layers, "strategies", "model"):
        if given.value == "" or not _check_readable(layers, given):
            continue
        first = first or given
        if located(given) != located(first):
            said = f"all strategies must have the same model for now, and {first.place} is {located(first)}"
            layers.wrong.append(f"{given}: {said}")


def _column(layers: Layers, table: str, key: str, otherwise: str | None = None) -> Iterator[Given]:
    """What was given for a key, entry by entry; where nothing was, for another key."""
    for index in range(len(layers.labels[table])):
        place = Place(table, index, key)
        if place not in layers.given and place not in layers.refused and otherwise is not None:
            place = place._replace(key=otherwise)
        if place in layers.given:
            yield layers.given[place]


def _check_different(layers: Layers, column: Iterable[Given]) -> None:
    seen: dict[str, Place] = {}
    for given in column:
        same = seen.setdefault(given.value, given.place)
        if same != given.place and f"{given}: {same} is the same" not in layers.wrong:
            layers.wrong.append(f"{given}: {same} is the same")


def _check_readable(layers: Layers, given: Given) -> bool:
    reason = unreadable(located(given))
    if reason is not None:
        layers.wrong.append(f"{given}: {reason}")
    return reason is None


def settled_entries(layers: Layers) -> dict[str, list[dict[str, Any]]]:
    """Every entry's values, files as absolute paths, for pydantic."""
    entries: dict[str, list[dict[str, Any]]] = {table: [{} for _ in layers.labels[table]] for table in LISTS}
    for place, given in layers.given.items():
        if place.entry is not None:
            put(entries[place.table][place.entry], given)
    return entries


def put(values: dict[str, Any], given: Given) -> None:
    """Enter a value among those of its section or entry; an item joins what its table holds."""
    place = given.place
    if place.item is not None:
        table = values.get(place.key)
        if table is None:
            table = dict(place.fields.model_fields[place.key].default)
        values[place.key] = {str(item): held for item, held in table.items()} | {place.item: given.value}
    elif place.table == "strategies" and place.key in ("file", "model"):
        values[place.key] = located(given)
    else:
        values[place.key] = given.value
