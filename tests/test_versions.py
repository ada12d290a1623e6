"""Which version is the newer: what is served under a name, and what `prune` removes."""

from __future__ import annotations

import pytest
import semver
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from lorepack.versions import version_key

ORDERED = [
    "nightly", "0", "0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
    "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0-rc.9", "1.0.0-rc.10", "1.0.0",
    "1.0.0+b1", "1.0.0+b2", "1.0.0+b10", "1.0.1", "1.2", "1.10", "2.0rc1", "2.0rc2", "2.0rc10",
    "2.0", "2.0.post1", "2026-01-31", "2026-02-01", "2026-10-01", "2026.1", "2026.10",
]  # fmt: skip


def test_versions_as_people_write_them() -> None:
    backwards = list(reversed(ORDERED))
    assert sorted(backwards, key=version_key) == ORDERED


NUMBER = st.integers(0, 120).map(str)
IDENTIFIER = st.sampled_from(["alpha", "beta", "rc", "x", "0", "7", "10", "100"])
SEMVER = st.builds(
    lambda numbers, before: ".".join(numbers) + (f"-{'.'.join(before)}" if before else ""),
    st.lists(NUMBER, min_size=3, max_size=3), st.lists(IDENTIFIER, max_size=3),
)  # fmt: skip
PEP440 = st.builds(
    lambda numbers, end: ".".join(numbers) + end,
    st.lists(NUMBER, min_size=1, max_size=4),
    st.sampled_from(["", "a1", "a12", "b2", "rc3", "rc12", ".dev4", ".post5", ".post12"]),
)  # fmt: skip


@given(SEMVER, SEMVER)
@settings(max_examples=400, deadline=None)
def test_semantic_versions_are_ordered_as_they_say(one: str, other: str) -> None:
    expected = semver.Version.parse(one).compare(other)
    if "x" not in one + other and expected:
        assert (version_key(one) > version_key(other)) == (expected > 0)


@given(PEP440, PEP440)
@settings(max_examples=400, deadline=None)
def test_pythons_versions_are_ordered_as_packaging_does(one: str, other: str) -> None:
    if Version(one) != Version(other):
        assert (version_key(one) > version_key(other)) == (Version(one) > Version(other))


@pytest.mark.parametrize(("one", "other"), [("1.0", "1.0.0"), ("v1.0", "1.0")])
def test_versions_that_are_equal_have_an_order_all_the_same(one: str, other: str) -> None:
    assert version_key(one)[:-1] == version_key(other)[:-1] and version_key(one) != version_key(
        other
    )


@given(st.lists(st.text(max_size=12), max_size=6))
@settings(max_examples=200, deadline=None)
def test_any_text_can_be_ordered(texts: list[str]) -> None:
    backwards = list(reversed(texts))
    assert sorted(texts, key=version_key) == sorted(backwards, key=version_key)
