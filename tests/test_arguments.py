"""What callers send, and how tools take it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from lorepack_server.retrieve.query import FILTERS
from lorepack_server.tools.arguments import ArgumentsError, input_schema, read_arguments
from lorepack_server.tools.find_chunks import ChunksArguments, Filters
from lorepack_server.tools.find_neighbors import NeighborsArguments
from lorepack_server.tools.memory_bridge import MemoryArguments, read_dates
from lorepack_server.tools.profiles import PROFILES
from lorepack_server.tools.shelf import shelf_tools
from lorepack_server.tools.wiki_query import QueryArguments

ALL = [*PROFILES["all"], *shelf_tools("all")]
KEYWORDS = {"type", "enum", "items", "properties", "required", "description"}


@pytest.mark.parametrize(
    ("model", "sent", "read"),
    [
        (ChunksArguments, {"query": "x", "limit": "5"}, {"limit": 5}),
        (ChunksArguments, {"query": "x", "limit": 5.0}, {"limit": 5}),
        (ChunksArguments, {"query": "x", "limit": None, "filters": None}, {"limit": 8}),
        (ChunksArguments, {"query": "x", "explain": "true"}, {"explain": True}),
        (ChunksArguments, {"query": 404}, {"query": "404"}),
        (ChunksArguments, {"query": ["x"]}, {"query": "x"}),
        (ChunksArguments, {"Query": "x", "max_tokens": 500}, {"max_tokens": 500}),
        (ChunksArguments, {"query": "x", "MAX-TOKENS": "500"}, {"max_tokens": 500}),
        (ChunksArguments, {"query": "x", "includeText": True}, {"query": "x"}),
        (ChunksArguments, {"query": "x", "filters": '{"tag": "a"}'}, {"filters": Filters(tag="a")}),
        (ChunksArguments, {"query": "x", "filters": {"tags": "a"}}, {"filters": Filters(tag="a")}),
        (NeighborsArguments, {"source": "a.md"}, {"page": "a.md"}),
        (NeighborsArguments, {"page": "a", "kinds": "link"}, {"kinds": ("link",)}),
        (NeighborsArguments, {"page": "a", "kinds": "link, tag"}, {"kinds": ("link", "tag")}),
        (NeighborsArguments, {"page": "a", "kinds": '["link"]'}, {"kinds": ("link",)}),
        (QueryArguments, {"tags": "sea, port"}, {"tags": ("sea, port",)}),
        (QueryArguments, {"tag": ["sea", "port"], "match": "any"}, {"tags": ("sea", "port")}),
        (MemoryArguments, {"tool_name": "codex", "date_range": ".."}, {"tool": "codex"}),
        (MemoryArguments, {"toolName": "codex", "dateRange": ""}, {"tool": "codex", "dates": ""}),
    ],
)
def test_what_models_send_is_understood(model: Any, sent: Any, read: dict[str, Any]) -> None:
    arguments, notes = read_arguments(model, sent)
    assert {name: getattr(arguments, name) for name in read} == read
    assert notes == ()


@pytest.mark.parametrize(("sent", "taken"), [(1000, 50), ("0", 1), (-(10**30), 1)])
def test_a_number_out_of_range_is_brought_in_with_a_note(sent: Any, taken: int) -> None:
    arguments, (note,) = read_arguments(ChunksArguments, {"query": "x", "limit": sent})
    assert arguments.limit == taken
    assert f"limit {str(sent)[:20]} was taken as {taken}; it goes from 1 to 50." in note


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({}, "query is missing"),
        ({"query": ""}, "query is empty"),
        ({"qery": "x"}, "did you mean 'query'?"),
        ({"query": "x", "max_token": 1}, "did you mean 'maxTokens'?"),
        ({"query": "x", "limit": "many"}, "limit is not a whole number; it takes 1 to 50"),
        ({"query": "x", "limit": 1.5}, "limit is not a whole number"),
        ({"query": "x", "limit": True}, "limit is not a whole number"),
        ({"query": ["x", "y"]}, "query takes one value, not 2"),
        ({"query": "x", "q": "y"}, "query is given twice"),
        ({"query": "x", "filters": "tag"}, "filters is not an object; it takes source, path, tag"),
        ({"query": "x", "filters": {"tagg": "a"}}, "did you mean 'tag'?"),
        ({"query": "x", "cursor": "next"}, "cursor: 'next' is not one; take it from the answer"),
    ],
)
def test_a_refusal_says_in_one_sentence_what_would_be_right(sent: Any, says: str) -> None:
    with pytest.raises(ArgumentsError) as refused:
        read_arguments(ChunksArguments, sent)
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_a_choice_is_named_with_the_nearest() -> None:
    with pytest.raises(
        ArgumentsError, match=r"'wikilnk' is not one of .*; did you mean 'wikilink'"
    ):
        read_arguments(NeighborsArguments, {"page": "a", "kinds": ["wikilnk"]})


def test_schemas_hold_no_keyword_that_a_client_refuses() -> None:
    def keywords(schema: Any) -> set[str]:
        found = set(schema)
        for inner in schema.get("properties", {}).values():
            found |= keywords(inner)
        return found | (keywords(schema["items"]) if "items" in schema else set())

    for spec in ALL:
        schema = input_schema(spec.arguments)
        Draft202012Validator.check_schema(schema)
        assert keywords(schema) <= KEYWORDS and schema["type"] == "object", spec.name


def test_one_thing_has_one_name() -> None:
    """A page is called ``page``, everywhere; names are in camel case; a source is a filter."""
    for spec in ALL:
        names = set(input_schema(spec.arguments)["properties"])
        assert not names & {"path", "source", "slug"}
        assert all("_" not in name for name in names), spec.name
    assert set(Filters.model_fields) == set(FILTERS)


def test_descriptions_say_at_once_what_a_tool_is_for() -> None:
    """Some clients cut them at 160 characters, and some show no instructions."""
    for spec in PROFILES["all"]:
        first = spec.description.replace("{pack}", '"A pack"')[:160]
        assert first.split()[0] in {
            "Search", "Read", "List", "Find", "Tell", "Suggest", "Gather",
        }, spec.name  # fmt: skip
        assert '"A pack"' in first


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("2024-01-01..2024-12-31", ("2024-01-01", "2024-12-31")),
        ("2024-01-01:2024-12-31", ("2024-01-01", "2024-12-31")),
        ("2024-01-01 to 2024-12-31", ("2024-01-01", "2024-12-31")),
        ("2024-01-01/2024-12-31", ("2024-01-01", "2024-12-31")),
        ("2024-01-01", ("2024-01-01", "2024-01-01")),
        ("2024-01-01..", ("2024-01-01", "9999-12-31")),
        (":2024-01-01", ("0001-01-01", "2024-01-01")),
        ("", ("", "9999-12-31")),
    ],
)
def test_ranges_of_dates(text: str, dates: tuple[str, str]) -> None:
    assert read_dates(text) == dates


@given(st.dictionaries(st.text(max_size=12), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner,
                                                                max_size=3), max_leaves=5),
    max_size=4), st.sampled_from(ALL))  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_anything_is_read_or_refused_in_a_sentence(sent: dict[str, Any], spec: Any) -> None:
    names = list(input_schema(spec.arguments)["properties"])
    for call in (sent, dict(zip(names, sent.values(), strict=False))):
        try:
            arguments, _ = read_arguments(spec.arguments, call)
            json.dumps(arguments.model_dump())
        except ArgumentsError as refused:
            assert len(str(refused)) < 800
