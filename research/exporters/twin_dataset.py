"""Twin-EventLog as a published dataset: Parquet, a dataset card, Croissant metadata.

Two tables of the same specifications: ``test`` with the gold, ``blind`` without gold and linkage. The card's
baselines are computed from the very specifications that are written. Needs the extra ``bridges``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from substrate import __version__
from substrate.base.extras import needed
from substrate.baselines.twin import request
from substrate.domains.smallville.format import Spec
from substrate.domains.smallville.judging import Judgement, judge, weights
from substrate.domains.smallville.twin import answer, replay_twin
from substrate.generators.smallville import CANARY, datasheet, generate
from substrate.generators.smallville.sampling import Graded
from substrate.log.journal import write_atomically

COLUMNS: Mapping[str, str] = {
    "spec": "The specification's number.",
    "linkage": "How the intervention reaches the asked: control, direct or propagation.",
    "query": "What is asked: did_meet, learned_fact or visited_location.",
    "branch": "The tick of the intervention.",
    "prompt_a": "The question about arm A, the village as planned, in words.",
    "prompt_b": "The question about arm B, with the intervention, in words.",
    "specification": "The specification as JSON, without gold and linkage: what an agent may be shown.",
    "gold_a": "The answer in arm A, yes or no.",
    "gold_b": "The answer in arm B, yes or no.",
    "canary": "Marks the data, so that a training set that holds it can be told.",
}
"""The columns of ``test`` in their order, and what each holds, where there are two arms."""
THIRD: Mapping[str, tuple[str, str]] = {
    "prompt_b": ("prompt_c", "The question about arm C, with the second intervention, in words."),
    "gold_b": ("gold_c", "The answer in arm C, yes or no."),
}
"""A third arm's addition behind a column."""
HIDDEN = ("linkage", "gold_a", "gold_b", "gold_c")
"""Columns of ``test`` that ``blind`` lacks."""
WHOLE = frozenset({"spec", "branch"})
"""Columns of whole numbers; the others are text."""
Answers = Callable[[Graded], Sequence[str]]


def columns(specs: Sequence[Graded]) -> dict[str, str]:
    """The columns of ``test`` for some specifications, and what each holds."""
    descriptions: dict[str, str] = {}
    for name, about in COLUMNS.items():
        descriptions[name] = about
        if name in THIRD and any(spec.second for spec in specs):
            descriptions.update([THIRD[name]])
    if any(spec.query.type == "knows_that" for spec in specs):
        descriptions["query"] = "What is asked: did_meet, learned_fact, visited_location or knows_that."
    return descriptions


def publish_numbers(out: Path, numbers: Iterable[int], seed: int, level: str = "village") -> None:
    """Write the dataset of generated specifications of these numbers; arguments as :func:`publish`."""
    publish(out, (generate(number, seed, level) for number in numbers), seed, level)


def publish(out: Path, specs: Iterable[Graded], seed: int, level: str = "village") -> None:
    """Write the dataset to a folder: ``data/*.parquet``, ``README.md`` (the card) and ``croissant.json``.

    Args:
        out: the folder, made where it is absent.
        specs: the specifications, with gold.
        seed: what they were generated from.
        level: at which, one of :data:`substrate.generators.smallville.LEVELS`.
    """
    parquet, arrow = needed("pyarrow.parquet"), needed("pyarrow")
    graded = list(specs)
    about = columns(graded)
    (out / "data").mkdir(parents=True, exist_ok=True)
    digests: dict[str, str] = {}
    for split, hidden in (("test", ()), ("blind", HIDDEN)):
        names = [name for name in about if name not in hidden]
        rows = [_row(spec) for spec in graded]
        table = arrow.table({name: [row[name] for row in rows] for name in names})
        path = out / "data" / f"{split}.parquet"
        parquet.write_table(table, path)
        digests[split] = hashlib.sha256(path.read_bytes()).hexdigest()
    write_atomically(out / "README.md", card(graded, seed, level))
    text = json.dumps(croissant(digests, about, level), indent=2, ensure_ascii=False)
    write_atomically(out / "croissant.json", f"{text}\n")


def _row(spec: Graded) -> dict[str, Any]:
    fields = msgspec.to_builtins(spec)
    prompts = {
        f"prompt_{arm}": "\n\n".join(message.text for message in request(spec, arm).messages)
        for arm in spec.arms
    }
    gold = {f"gold_{arm}": answer for arm, answer in zip(spec.arms, spec.gold.answers, strict=True)}
    return {
        "spec": spec.spec,
        "linkage": spec.linkage,
        "query": spec.query.type,
        "branch": spec.branch,
        **prompts,
        "specification": json.dumps({k: v for k, v in fields.items() if k not in ("gold", "linkage")}),
        **gold,
        "canary": CANARY,
    }


def _always_no(spec: Graded) -> Sequence[str]:
    return ("no",) * len(spec.arms)


def _random(spec: Graded) -> Sequence[str]:
    drawn = hashlib.sha256(f"twin-eventlog random {spec.spec}".encode()).digest()
    return [("no", "yes")[byte % 2] for byte in drawn[: len(spec.arms)]]


def _substrate(spec: Graded) -> Sequence[str]:
    # Without the gold: the type that is answered has no field for it.
    public = Spec(*(getattr(spec, name) for name in Spec.__struct_fields__))
    return [answer(public, arm) for arm in replay_twin(public)]


BASELINES: Mapping[str, Answers] = {
    "always no": _always_no,
    "random": _random,
    "substrate": _substrate,
}
"""The baselines of the card's table; ``random`` draws from a hash of the number."""


def baselines(specs: Sequence[Graded]) -> dict[str, Judgement]:
    """The arms, specifications and divergences that each baseline gets right."""
    sums: dict[str, Judgement] = {}
    for name, answers in BASELINES.items():
        judged = [judge(answers(spec), spec.gold.answers) for spec in specs]
        sums[name] = _sum(judged)
    return sums


def _sum(judged: Iterable[Judgement]) -> Judgement:
    return Judgement(*map(sum, zip(*judged, strict=True))) if (judged := list(judged)) else Judgement(0, 0, 0)


def card(specs: Sequence[Graded], seed: int, level: str = "village") -> str:
    """The dataset card: what the Hub reads at its head, the baselines, then the datasheet."""
    lines = ["| answers | per arm | joint | divergence |", "| --- | ---: | ---: | ---: |"]
    most = _sum(weights(len(spec.arms)) for spec in specs)
    for name, right in baselines(specs).items():
        shares = (f"{part / max(whole, 1):.1%}" for part, whole in zip(right, most, strict=True))
        lines.append(f"| {name} | {' | '.join(shares)} |")
    table = "\n".join(lines)
    own = level != "village"
    return _CARD.format(
        canary=CANARY,
        n=len(specs),
        table=table,
        datasheet=datasheet(specs, seed, level),
        title=f", level {level}" if own else "",
        option=f" --level {level}" if own else "",
        asked=_ASKED[max((len(spec.arms) for spec in specs), default=2)],
    )


_ASKED: Mapping[int, str] = {
    2: "twice: of its day as planned, and with one thing\nchanged at a tick",
    3: "three times: of its day as planned, and with\neither of two things changed at a tick",
}


_CARD = """---
license: apache-2.0
language: [en]
task_categories: [question-answering]
tags: [counterfactual-reasoning, world-models, agent-memory]
pretty_name: Twin-EventLog{title}
configs:
- config_name: default
  data_files:
  - split: test
    path: data/test.parquet
- config_name: blind
  data_files:
  - split: test
    path: data/blind.parquet
---

# Twin-EventLog{title}

{n} villages, each asked the same yes-or-no question {asked}.

{canary}. Benchmark data should never be trained on: keep this line with the data.

## Baselines

Measured on these very specifications when this card was written, by `research/exporters/twin_dataset.py`.

{table}

The substrate replays the rules of the world: it is right by construction, and shows that the gold and the
rules agree.

## Against contamination

The gold follows from the public generator and the seed. For a test that nobody can have seen generate one
from a seed of your own: `substrate generate twin{option} --seed SEED --parquet --out DIR`, hand out
`data/blind.parquet`, and grade with `substrate score twin`.

{datasheet}"""

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context of Croissant 1.0: https://docs.mlcommons.org/croissant/docs/croissant-spec.html."""


def croissant(digests: Mapping[str, str], about: Mapping[str, str], level: str = "village") -> dict[str, Any]:
    """Croissant metadata of the published files.

    Args:
        digests: the SHA-256 of each split's file, in hexadecimal digits.
        about: the columns of ``test``, and what each holds.
        level: of the specifications.
    """
    arms = sum(name.startswith("gold_") for name in about)
    files = [
        {
            "@type": "cr:FileObject",
            "@id": f"{split}.parquet",
            "name": f"{split}.parquet",
            "contentUrl": f"data/{split}.parquet",
            "encodingFormat": "application/x-parquet",
            "sha256": digest,
        }
        for split, digest in digests.items()
    ]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": "twin-eventlog" if level == "village" else f"twin-eventlog-{level}",
        "description": "Does a memory stay consistent under intervention? Villages asked "
        f"{'twice' if arms == 2 else 'three times'}.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": "https://www.apache.org/licenses/LICENSE-2.0",
        "version": __version__,
        "citeAs": "Rovai, Deterministic Event-Graph Substrates as World Models for Counterfactual Reasoning",
        "distribution": files,
        "recordSet": [_records(split, about) for split in digests],
    }


def _records(split: str, columns: Mapping[str, str]) -> dict[str, Any]:
    hidden = HIDDEN if split == "blind" else ()
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{split}/{name}",
            "name": name,
            "description": about,
            "dataType": "sc:Integer" if name in WHOLE else "sc:Text",
            "source": {"fileObject": {"@id": f"{split}.parquet"}, "extract": {"column": name}},
        }
        for name, about in columns.items()
        if name not in hidden
    ]
    return {"@type": "cr:RecordSet", "@id": split, "name": split, "field": fields}
