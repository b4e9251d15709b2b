"""A small model's calls of a memory's tools: how many are well-formed, and how many are what was meant.

    make models
    substrate models serve .venv/bin/python benchmarks/tool_calls.py [--each 2] [--out FILE]

Plain requests are made of the TBox `errands` by rule, six kinds of them. The model is shown six tools as
`before` (declared as they were until the tools took plain words: `tool_calls_before.json`) and as `after`,
and answers without a grammar or under the tools' own JSON Schema. A reply is well-formed where it is JSON,
names a tool that was shown and gives it arguments that the tool takes; before, a term had to be an IRI or
quoted. It is meant where the tool and the values are those of the request, however an IRI spells them. What
the prompts share is read once (`cache_prompt`).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import httpx
import msgspec

from orchestration.models.client import URL
from research.exporters.remembering import town
from substrate.adapters.memory_tools import ABOUT, READING, WRITING, Tool
from substrate.base.counts import wilson

BEFORE = json.loads(Path(__file__).with_name("tool_calls_before.json").read_text("utf-8"))
AFTER: dict[str, Tool] = {
    name: kind
    for name, kind in {**READING, **WRITING}.items()
    if name in ("remember", "know", "forget", "why", "who_knew", "recall")
}
_ASK = """{about}

The tools, one a line:
{tools}

Answer with one JSON object and nothing else: {{"tool": NAME, "arguments": {{…}}}}"""
_SETTINGS = {"temperature": 0, "max_tokens": 160, "cache_prompt": True}
_TERM = re.compile(r'<[^<>\s]+>|".*"(@\w+|\^\^<.*>)?|_:\w+|\w[\w+.-]*:\S+', re.DOTALL)


class Wanted(NamedTuple):
    """A request in English, and the call that it means: the tool's name before and after, and the values."""

    text: str
    before: str
    after: str
    values: Mapping[str, str]


def requests(each: int, seed: int = 5) -> Iterator[Wanted]:
    """So many requests of each kind."""
    draw, words = Random(seed), town()
    for _ in range(each):
        relation = draw.choice(sorted(words.values))
        who, other = (words.label(person) for person in draw.sample(words.people, 2))
        value, does = words.label(draw.choice(words.values[relation])), words.label(relation)
        statement = {"subject": who, "predicate": does, "object": value}
        fact = f"{who} {does} {value}"
        yield Wanted(f"Remember that {fact}.", "observe", "remember", statement)
        yield Wanted(f"Forget that {fact}.", "forget", "forget", statement)
        yield Wanted(f"Why do you think that {fact}?", "why", "why", statement)
        yield Wanted(f"Note that {who} knows of {value}.", "believe", "know", {"agent": who, "fact": value})
        yield Wanted(f"Who knows of {value}?", "who_knew", "who_knew", {"fact": value})
        yield Wanted(f"List what you know of {other}.", "as_of", "recall", {"subject": other})


def shown(side: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """A server's words on itself and on its tools, and the schemas of their arguments."""
    if side == "before":
        tools = {name: (tool["description"], tool["schema"]) for name, tool in BEFORE["tools"].items()}
    else:
        tools = {name: (tool.about(), tool.schema()) for name, tool in AFTER.items()}
    lines = [
        json.dumps({"tool": name, "description": about, "arguments": schema}, ensure_ascii=False)
        for name, (about, schema) in tools.items()
    ]
    about = BEFORE["about"] if side == "before" else ABOUT
    return _ASK.format(about=about, tools="\n".join(lines)), {
        name: schema for name, (_, schema) in tools.items()
    }


def grammar(schemas: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The schema of a call of one of some tools."""
    calls = [
        {
            "type": "object",
            "properties": {"tool": {"const": name}, "arguments": schema},
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for name, schema in schemas.items()
    ]
    return {"type": "json_schema", "json_schema": {"name": "call", "schema": {"anyOf": calls}}}


def called(reply: str, side: str, schemas: Mapping[str, dict[str, Any]]) -> tuple[str, dict[str, Any]] | None:
    """The call of a reply, where it is well-formed."""
    try:
        call = json.loads(reply.strip().removeprefix("```json").removeprefix("```").removesuffix("```"))
        name, arguments = call["tool"], call["arguments"]
        schema = schemas[name]
    except (ValueError, KeyError, TypeError):
        return None
    if not isinstance(arguments, dict):
        return None
    if side == "after":
        try:
            msgspec.convert(arguments, AFTER[name].arguments)
        except msgspec.ValidationError:
            return None
        return name, arguments
    # An unknown argument was dropped in silence
    known = {key: value for key, value in arguments.items() if key in schema["properties"]}
    if any(key not in known for key in schema.get("required", ())):
        return None
    for key, value in known.items():
        kinds = [
            option["type"] for option in schema["properties"][key].get("anyOf", [schema["properties"][key]])
        ]
        if not (isinstance(value, str) if "string" in kinds else isinstance(value, int) or value is None):
            return None
        if key in BEFORE["terms"] and isinstance(value, str) and not _TERM.fullmatch(value):
            return None
    return name, known


def meant(call: tuple[str, dict[str, Any]], wanted: Wanted, side: str) -> bool:
    """Tell whether a call is what a request means."""
    name, given = call
    if name != (wanted.before if side == "before" else wanted.after):
        return False
    values = {key: value for key, value in wanted.values.items() if name != "as_of"}
    return all(_plain(given.get(key)) == _plain(value) for key, value in values.items())


def _plain(value: object) -> str:
    last = re.split(r"[/#:]", str(value).strip('<>"'))[-1].casefold().removeprefix("the ")
    return re.sub(r"\W|_", "", last)


def main() -> None:
    """Print a row for each side, without a grammar and under the schema."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--each", type=int, default=2)
    parser.add_argument("--out", type=Path, help="keep the replies, a line each")
    given = parser.parse_args()
    if not (url := os.environ.get(URL)):
        parser.error(f"no model: run it under `substrate models serve`, or set {URL}")
    client, wanted, records = httpx.Client(timeout=600), list(requests(given.each)), list[str]()
    model = client.get(f"{url}/models").json()["data"][0]["id"]
    sys.stdout.write(
        f"{model}, {len(wanted)} requests\n\n| tools | reply | well-formed | as meant |\n|---|---|---|---|\n"
    )
    for side in ("before", "after"):
        system, schemas = shown(side)
        for under in ("free", "schema"):
            counts = Counter[str]()
            for request in wanted:
                messages = [{"role": "system", "content": system}, {"role": "user", "content": request.text}]
                body: dict[str, Any] = {
                    "model": model,
                    "messages": messages,
                    "temperature": 0,
                    "max_tokens": 160,
                }
                if under == "schema":
                    body["response_format"] = grammar(schemas)
                answer = client.post(f"{url}/chat/completions", json=body).raise_for_status().json()
                reply = answer["choices"][0]["message"]["content"]
                call = called(reply, side, schemas)
                counts["well-formed"] += call is not None
                counts["meant"] += call is not None and meant(call, request, side)
                records.append(json.dumps([side, under, request.text, reply, call], ensure_ascii=False))
                if given.out:
                    given.out.write_text("\n".join(records) + "\n", "utf-8")
            cells = (_cell(counts[name], len(wanted)) for name in ("well-formed", "meant"))
            sys.stdout.write(f"| {side} | {under} | {' | '.join(cells)} |\n")
            sys.stdout.flush()


def _cell(n: int, of: int) -> str:
    low, high = wilson(n, of)
    return f"{n} of {of} ({100 * low:.0f} to {100 * high:.0f} %)"


if __name__ == "__main__":
    main()
