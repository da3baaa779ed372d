"""The feature table: complete, in order, and a hash that tells schemas apart."""

import re

import pytest

from venym.records import FEATURES_MAX
from venym.stages import feature_table, features

pytestmark = pytest.mark.plain

HASH = "73fdacc4881ed532c0ce37673b0ed75b8e11eadd9c12cd62db57f7c75e27a186"


def test_the_schema_is_the_one_that_models_know():
    """When this fails a model trained before no longer fits: raise VERSION if its meaning changed, then the hash."""
    assert feature_table.schema_hash() == HASH


@pytest.mark.parametrize("changed", ["version", "name", "parameter", "order"])
def test_any_change_of_the_schema_changes_the_hash(changed, monkeypatch):
    first, second, *rest = feature_table.FEATURES
    if changed == "version":
        monkeypatch.setattr(feature_table, "VERSION", feature_table.VERSION + 1)
    elif changed == "name":
        monkeypatch.setattr(feature_table, "FEATURES", (first._replace(name="other"), second, *rest))
    elif changed == "parameter":
        monkeypatch.setattr(feature_table, "FEATURES", (first._replace(parameters=(("h_ns", 1),)), second, *rest))
    else:
        monkeypatch.setattr(feature_table, "FEATURES", (second, first, *rest))
    assert feature_table.schema_hash() != HASH


def test_wording_does_not_change_the_hash(monkeypatch):
    first, *rest = feature_table.FEATURES
    monkeypatch.setattr(feature_table, "FEATURES", (first._replace(formula="(a_1 - b_1) / m 1e4"), *rest))
    assert feature_table.schema_hash() == HASH


def test_every_feature_has_a_name_of_its_own_a_formula_and_a_source():
    names = feature_table.names()
    assert len(set(names)) == len(names) == len(feature_table.FEATURES) <= FEATURES_MAX
    for feature in feature_table.FEATURES:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", feature.name)
        assert feature.formula and feature.source
        assert all(isinstance(value, int) and value > 0 for _, value in feature.parameters)


def test_position_is_the_index_into_x_and_a_wrong_name_is_refused():
    assert [feature_table.position(name) for name in feature_table.names()] == list(range(len(feature_table.FEATURES)))
    with pytest.raises(ValueError):
        feature_table.position("spread")


def test_a_horizon_has_more_samples_than_buckets():
    assert list(feature_table.HORIZONS_NS) == sorted(feature_table.HORIZONS_NS)
    for horizon_ns in feature_table.HORIZONS_NS:
        buckets = horizon_ns / 2 ** feature_table.bucket_shift(horizon_ns)
        assert feature_table.BUCKETS_MIN <= buckets < features.SAMPLES
