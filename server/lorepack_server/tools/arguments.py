"""What tools take: typed models, their JSON Schemas, and how what callers send is read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from lorepack_server.tools.near_names import nearest_name

A = TypeVar("A", bound="Arguments")
UNLIMITED = -1
"""For ``max_tokens``: no limit at all."""
_KEYWORDS = ("type", "enum")
_CHECKED = ("pattern", "minLength", "maxLength", "minItems", "maxItems", "exclusiveMinimum",
            "maximum", "format")  # fmt: skip
_LAST = ("limit", "cursor", "maxTokens")
_MOST_CHARACTERS = 500
"""Of a refusal."""


@dataclass(frozen=True)
class Between:
    """The range of a number; one outside is brought into it, with a note."""

    least: int
    most: int


class Arguments(BaseModel):
    """The arguments of a tool, in camel case on the wire.

    ``renamed`` maps names that callers may still use to the fields that took their place; what has
    '' there is left unread.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True,
        validate_by_alias=True, coerce_numbers_to_str=True,
    )  # fmt: skip
    renamed: ClassVar[Mapping[str, str]] = {}


MaxTokens = Annotated[int, Between(100, 100_000)]
Cursor = Annotated[str, Field(pattern="^[0-9]{0,9}$")]


class Paged(Arguments):
    """What every tool takes that answers with a list."""

    limit: Annotated[int, Between(1, 500), Field(description="1 to 500")] = 100
    cursor: Cursor = "0"
    max_tokens: MaxTokens = 0


class ArgumentsError(ValueError):
    """A call's arguments are wrong; the message is one sentence that says what would be right."""


def read_arguments(model: type[A], sent: Mapping[str, Any]) -> tuple[A, tuple[str, ...]]:
    """Read what a caller sent: any case of names, numbers and lists as text, ``null`` for nothing.

    Returns:
        The arguments, and a note for each number that was brought into its range.

    Raises:
        ArgumentsError: an argument is unknown, missing, or of another kind.
    """
    notes: list[str] = []
    values = _values(model, sent, notes)
    try:
        return model.model_validate(values), tuple(notes)
    except ValidationError as error:
        raise ArgumentsError(_sentence(model, error)) from None


def without_limits(arguments: A) -> A:
    """Return the same arguments for an answer that is whole, as people and programs want it."""
    whole = {"limit": sys.maxsize, "max_tokens": UNLIMITED}
    fields = type(arguments).model_fields
    return arguments.model_copy(update={k: v for k, v in whole.items() if k in fields})


def input_schema(model: type[Arguments]) -> dict[str, Any]:
    """Return a model's JSON Schema, with keywords only that every client takes.

    Ranges and defaults are in the descriptions: some clients drop them, others refuse them.
    """
    return _described(model, _KEYWORDS)


def exact_schema(model: type[Arguments]) -> dict[str, Any]:
    """Return a model's JSON Schema with all that is checked of its texts and lists."""
    return _described(model, (*_KEYWORDS, *_CHECKED))


def _described(model: type[Arguments], keywords: Sequence[str]) -> dict[str, Any]:
    schema = model.model_json_schema(by_alias=True)
    return _plain(schema, schema.get("$defs", {}), keywords)


def _plain(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], keywords: Sequence[str]
) -> dict[str, Any]:
    if "$ref" in schema:
        found = definitions[schema["$ref"].rpartition("/")[2]]
        schema = {**found, **{key: value for key, value in schema.items() if key != "$ref"}}
    kept: dict[str, Any] = {key: schema[key] for key in keywords if key in schema}
    if "const" in schema:
        kept["enum"] = [schema["const"]]
    if "items" in schema:
        kept["items"] = _plain(schema["items"], definitions, keywords)
    if "properties" in schema:
        needed = set(schema.get("required", ()))
        order = sorted(schema["properties"], key=lambda name: (name not in needed, name in _LAST))
        kept["properties"] = {
            name: _plain(schema["properties"][name], definitions, keywords) for name in order
        }
    if schema.get("required"):
        kept["required"] = schema["required"]
    if "description" in schema and "properties" not in schema:
        kept["description"] = schema["description"]
    return kept


def _values(model: type[Arguments], sent: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return the values by field, each in the form that the model reads."""
    known = _names(model)
    values: dict[str, Any] = {}
    for name, value in sent.items():
        field = known.get(_key(name))
        if field is None:
            raise ArgumentsError(_unknown(model, name))
        if not field:
            continue
        info = model.model_fields[field]
        if value is None or (value == "" and not info.is_required()):
            continue
        read = _read(info, to_camel(field), value, notes)
        if field in values and values[field] != read:
            raise ArgumentsError(f"{to_camel(field)} is given twice")
        values[field] = read
    return values


def _read(info: FieldInfo, name: str, value: Any, notes: list[str]) -> Any:
    kind = info.annotation
    if get_origin(kind) is tuple:
        return _list(value, get_args(kind)[0])
    if isinstance(kind, type) and issubclass(kind, Arguments):
        inner = _json(value)
        if not isinstance(inner, Mapping):
            raise ArgumentsError(f"{name} is not an object; it takes {', '.join(_shown(kind))}")
        return _values(kind, inner, notes)
    if isinstance(value, list | tuple):
        if len(value) != 1:
            raise ArgumentsError(f"{name} takes one value, not {len(value)}")
        value = value[0]
    for limits in info.metadata:
        if isinstance(limits, Between):
            return _brought_in(name, value, limits, notes)
    if kind is str and isinstance(value, bool):
        return str(value).lower()
    return value.strip() or value if isinstance(value, str) else value


def _brought_in(name: str, value: Any, limits: Between, notes: list[str]) -> Any:
    try:
        number = int(value)
        if isinstance(value, bool) or number != (number if isinstance(value, str) else value):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ArgumentsError(
            f"{name} is not a whole number; it takes {limits.least} to {limits.most}"
        ) from None
    nearest = min(max(number, limits.least), limits.most)
    if nearest != number:
        notes.append(f"Note: {name} {str(number)[:20]} was taken as {nearest}; "
                     f"it goes from {limits.least} to {limits.most}.")  # fmt: skip
    return nearest


def _list(value: Any, kind: Any) -> Any:
    value = _json(value)
    if isinstance(value, str):
        # Names of a fixed set have no comma in them; other texts may.
        parts = value.split(",") if get_args(kind) else [value]
        return tuple(part.strip() for part in parts if part.strip())
    if isinstance(value, list | tuple):
        return tuple(value)
    return (value,)


def _json(value: Any) -> Any:
    """Return what a text of JSON says, as some clients send objects and lists."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


@cache
def _names(model: type[Arguments]) -> Mapping[str, str]:
    """Return the field for each name that a caller may use, by `_key`."""
    old = {_key(name): field for name, field in model.renamed.items()}
    return {**old, **{_key(field): field for field in model.model_fields}}


def _key(name: str) -> str:
    return str(name).replace("_", "").replace("-", "").lower()


def _shown(model: type[Arguments]) -> list[str]:
    return [to_camel(field) for field in model.model_fields]


def _unknown(model: type[Arguments], name: str) -> str:
    names = _shown(model)
    near = nearest_name(_key(name), {_key(known): known for known in names})
    hint = f"did you mean {near!r}? " if near else ""
    return f"there is no argument {str(name)[:60]!r}; {hint}There are: {', '.join(names)}"


def _sentence(model: type[Arguments], error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    path = [to_camel(part) if isinstance(part, str) else str(part) for part in first["loc"]]
    where, wrong = ".".join(part for part in path if not part.isdigit()), first["input"]
    if first["type"] == "missing":
        text = f"{where} is missing"
    elif first["type"] == "string_too_short":
        text = f"{where} is empty"
    elif first["type"] == "string_pattern_mismatch":
        text = f"{where}: {str(wrong)[:60]!r} is not one; take it from the answer before"
    elif first["type"] == "literal_error":
        choices = list(_choices(model, first["loc"]))
        near = nearest_name(str(wrong), {choice: choice for choice in choices})
        hint = f"; did you mean {near!r}?" if near else ""
        text = f"{where}: {str(wrong)[:60]!r} is not one of {', '.join(choices)}{hint}"
    else:
        text = f"{where}: {str(wrong)[:60]!r} is wrong ({first['msg']})"
    return text[:_MOST_CHARACTERS]


def _choices(model: type[Arguments], place: tuple[int | str, ...]) -> Iterator[str]:
    kind: Any = model.model_fields[str(place[0])].annotation if place else None
    if get_origin(kind) is tuple:
        kind = get_args(kind)[0]
    yield from map(str, get_args(kind))
