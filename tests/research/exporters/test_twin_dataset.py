"""Twin-EventLog as it is published: Parquet, card, Croissant."""

from __future__ import annotations

import hashlib
import json
from itertools import combinations
from pathlib import Path

import pytest

from research.exporters.twin_dataset import COLUMNS, HIDDEN, baselines, publish
from substrate.generators.smallville import CANARY, generate
from substrate.generators.smallville.sampling import Graded

parquet = pytest.importorskip("pyarrow.parquet")
SPECS = [generate(number, 7) for number in range(9)]
THREE = [generate(number, 20, "three_arms") for number in (0, 3, 5, 15)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    publish(folder, SPECS, seed=7)
    return folder


def test_the_tables_hold_the_specifications_and_the_blind_one_no_gold(folder: Path) -> None:
    test, blind = (parquet.read_table(folder / f"data/{split}.parquet") for split in ("test", "blind"))
    assert test.column_names == list(COLUMNS)
    assert set(test.column_names) - set(blind.column_names) == set(HIDDEN) - {"gold_c"}
    rows = test.to_pylist()
    assert [(row["spec"], row["gold_a"], row["gold_b"]) for row in rows] == [
        (spec.spec, spec.gold.a, spec.gold.b) for spec in SPECS
    ]
    assert {row["canary"] for row in rows} == {CANARY}
    for row in blind.to_pylist():
        specification = json.loads(row["specification"])
        assert not {"gold", "linkage"} & set(specification)
        assert not {"control", "direct", "propagation"} & set(row["specification"].split('"'))
        assert specification["query"]["text"] in row["prompt_a"]
        assert "before anything else of that tick" in row["prompt_b"]
        assert "before anything else of that tick" not in row["prompt_a"]


def test_the_baselines_are_measured_on_what_is_published(folder: Path) -> None:
    scores = baselines(SPECS)
    assert scores["always no"].joint == sum(spec.gold.a == spec.gold.b == "no" for spec in SPECS)
    assert (scores["substrate"].per_arm, scores["substrate"].joint) == (18, 9)
    card = (folder / "README.md").read_text("utf-8")
    assert "| substrate | 100.0% | 100.0% | 100.0% |" in card
    assert f"| always no | {scores['always no'].per_arm / 18:.1%} |" in card
    assert CANARY in card


def test_the_same_seed_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    publish(tmp_path, SPECS, seed=7)
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert [str(path) for path in files] == [
        "README.md",
        "croissant.json",
        "data/blind.parquet",
        "data/test.parquet",
    ]
    assert all((tmp_path / path).read_bytes() == (folder / path).read_bytes() for path in files)


def test_the_metadata_name_the_files_by_their_hash(folder: Path) -> None:
    about = json.loads((folder / "croissant.json").read_text("utf-8"))
    for file in about["distribution"]:
        data = (folder / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(data).hexdigest()


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("three")
    publish(folder, THREE, seed=20, level="three_arms")
    return folder


def test_three_arms_have_a_third_prompt_and_gold_and_a_card_of_their_own(three: Path) -> None:
    test, blind = (parquet.read_table(three / f"data/{split}.parquet") for split in ("test", "blind"))
    assert [name for name in test.column_names if name[-2:] == "_c"] == ["prompt_c", "gold_c"]
    assert "prompt_c" in blind.column_names
    assert not {"gold_c", "linkage"} & set(blind.column_names)
    assert test["gold_c"].to_pylist() == [spec.gold.c for spec in THREE]
    for row in test.to_pylist():
        assert len({row["prompt_a"], row["prompt_b"], row["prompt_c"]}) == 3
        assert "gold" not in json.loads(row["specification"])
    scores, alike = baselines(THREE), 0
    for spec in THREE:
        alike += sum(answer == other for answer, other in combinations(spec.gold.answers, 2))
    assert scores["substrate"] == (3 * len(THREE), len(THREE), 3 * len(THREE))
    assert scores["always no"].divergence == alike
    card = (three / "README.md").read_text("utf-8")
    assert "# Twin-EventLog, level three_arms" in card
    assert f"| {alike / (3 * len(THREE)):.1%} |" in card
    assert "`substrate generate twin --level three_arms --seed SEED --parquet --out DIR`" in card


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("published", "specs"), [("folder", SPECS), ("three", THREE)])
def test_croissant_reads_it(published: str, specs: list[Graded], request: pytest.FixtureRequest) -> None:
    croissant = pytest.importorskip("mlcroissant")
    dataset = croissant.Dataset(jsonld=str(request.getfixturevalue(published) / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    records = list(dataset.records("test"))
    assert [int(record["test/spec"]) for record in records] == [spec.spec for spec in specs]
    last = f"test/gold_{specs[0].arms[-1]}"
    assert [record[last].decode() for record in records] == [spec.gold.answers[-1] for spec in specs]
