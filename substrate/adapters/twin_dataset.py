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
from substrate.baselines.twin import ARMS, request
from substrate.domains.smallville.format import Spec
from substrate.domains.smallville.judging import WEIGHTS, Judgement, judge
from substrate.domains.smallville.twin import answer, replay_twin
from substrate.extras import needed
from substrate.journal import write_atomically
from substrate.worlds.smallville import CANARY, datasheet
from substrate.worlds.smallville.sampling import Graded

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
"""The columns of ``test`` in their order, and what each holds."""
HIDDEN = ("linkage", "gold_a", "gold_b")
"""Columns that ``blind`` lacks."""
WHOLE = frozenset({"spec", "branch"})
"""Columns of whole numbers; the others are text."""
Answers = Callable[[Graded], Sequence[str]]


def publish(out: Path, specs: Iterable[Graded], seed: int) -> None:
    """Write the dataset to a folder: ``data/*.parquet``, ``README.md`` (the card) and ``croissant.json``.

    Args:
        out: the folder, made where it is absent.
        specs: the specifications, with gold.
        seed: what they were generated from.
    """
    parquet, arrow = needed("pyarrow.parquet"), needed("pyarrow")
    found = list(specs)
    (out / "data").mkdir(parents=True, exist_ok=True)
    digests: dict[str, str] = {}
    for split, hidden in (("test", ()), ("blind", HIDDEN)):
        names = [name for name in COLUMNS if name not in hidden]
        rows = [_row(spec) for spec in found]
        table = arrow.table({name: [row[name] for row in rows] for name in names})
        path = out / "data" / f"{split}.parquet"
        parquet.write_table(table, path)
        digests[split] = hashlib.sha256(path.read_bytes()).hexdigest()
    write_atomically(out / "README.md", card(found, seed))
    text = json.dumps(croissant(digests), indent=2, ensure_ascii=False)
    write_atomically(out / "croissant.json", f"{text}\n")


def _row(spec: Graded) -> dict[str, Any]:
    shown = msgspec.to_builtins(spec)
    asked = {arm: "\n\n".join(message.text for message in request(spec, arm).messages) for arm in ARMS}
    return {
        "spec": spec.spec,
        "linkage": spec.linkage,
        "query": spec.query.type,
        "branch": spec.branch,
        "prompt_a": asked["a"],
        "prompt_b": asked["b"],
        "specification": json.dumps({k: v for k, v in shown.items() if k not in ("gold", "linkage")}),
        "gold_a": spec.gold.a,
        "gold_b": spec.gold.b,
        "canary": CANARY,
    }


def _always_no(spec: Graded) -> Sequence[str]:
    return "no", "no"


def _random(spec: Graded) -> Sequence[str]:
    drawn = hashlib.sha256(f"twin-eventlog random {spec.spec}".encode()).digest()
    return [("no", "yes")[byte % 2] for byte in drawn[:2]]


def _substrate(spec: Graded) -> Sequence[str]:
    # Without the gold: what answers a specification has no field for it.
    shown = Spec(*(getattr(spec, name) for name in Spec.__struct_fields__))
    return [answer(shown, arm) for arm in replay_twin(shown)]


BASELINES: Mapping[str, Answers] = {
    "always no": _always_no,
    "random": _random,
    "substrate": _substrate,
}
"""Who answers for the card's table; ``random`` draws from a hash of the number."""


def baselines(specs: Sequence[Graded]) -> dict[str, Judgement]:
    """How many arms, pairs and divergences each baseline gets right."""
    found: dict[str, Judgement] = {}
    for name, answers in BASELINES.items():
        judged = [judge(answers(spec), (spec.gold.a, spec.gold.b)) for spec in specs]
        found[name] = Judgement(*(sum(getattr(j, metric) for j in judged) for metric in Judgement._fields))
    return found


def card(specs: Sequence[Graded], seed: int) -> str:
    """The dataset card: what the Hub reads at its head, the baselines, then the datasheet."""
    lines = ["| answers | per arm | joint | divergence |", "| --- | ---: | ---: | ---: |"]
    for name, right in baselines(specs).items():
        shares = (
            f"{getattr(right, m) / (max(len(specs), 1) * getattr(WEIGHTS, m)):.1%}" for m in Judgement._fields
        )
        lines.append(f"| {name} | {' | '.join(shares)} |")
    table = "\n".join(lines)
    return _CARD.format(canary=CANARY, n=len(specs), table=table, datasheet=datasheet(specs, seed))


_CARD = """---
license: apache-2.0
language: [en]
task_categories: [question-answering]
tags: [counterfactual-reasoning, world-models, agent-memory]
pretty_name: Twin-EventLog
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

# Twin-EventLog

{n} villages, each asked the same yes-or-no question twice: of its day as planned, and with one thing
changed at a tick.

{canary}. Benchmark data should never be trained on: keep this line with the data.

## Baselines

Measured on these very specifications when this card was written, by `substrate/adapters/twin_dataset.py`.

{table}

The substrate replays the rules of the world: it is right by construction, and shows that the gold and the
rules agree.

## Against contamination

The gold follows from the public generator and the seed. For a test that nobody can have seen generate one
from a seed of your own: `substrate generate twin --seed SEED --parquet --out DIR`, hand out
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


def croissant(digests: Mapping[str, str]) -> dict[str, Any]:
    """Croissant metadata of the published files.

    Args:
        digests: the SHA-256 of each split's file, in hexadecimal digits.
    """
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
        "name": "twin-eventlog",
        "description": "Does a memory stay consistent under intervention? Villages asked twice.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": "https://www.apache.org/licenses/LICENSE-2.0",
        "version": __version__,
        "citeAs": "Rovai, Deterministic Event-Graph Substrates as World Models for Counterfactual Reasoning",
        "distribution": files,
        "recordSet": [_records(split) for split in digests],
    }


def _records(split: str) -> dict[str, Any]:
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
        for name, about in COLUMNS.items()
        if name not in hidden
    ]
    return {"@type": "cr:RecordSet", "@id": split, "name": split, "field": fields}
