"""`params.yaml` and `--set`: a wrong value is an error that names the key."""

from __future__ import annotations

from pathlib import Path

import pytest
from dvc.utils.hydra import apply_overrides
from dvc.utils.serialize import dump_yaml, load_yaml

from orchestration.base.yaml_text import read_yaml
from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.project import SETTINGS
from orchestration.settings import load_settings, override
from substrate.base.errors import ParameterError

PARAMETERS = (Path(__file__).parents[2] / "params.yaml").read_bytes()
# Each line holds the line before it twice: the last one would be two to the power of 25 elements.
BOMB = b"a: &a [x, x]\n" + b"".join(
    b"%c: &%c [*%c, *%c]\n" % (98 + i, 98 + i, 97 + i, 97 + i) for i in range(24)
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff" + PARAMETERS, "not UTF-8 (byte 0)"),
        (PARAMETERS + b'\nimages: "\\ud800"\n', "images: has half of a surrogate pair"),
        (BOMB, "line 2: *a is an alias"),
        (b"a: " + b"[" * 5000, "nests more than 64 deep"),
        (PARAMETERS + b"\nseed: 21\n", "seed: occurs twice"),
        (
            PARAMETERS.replace(b"    tau:", b"    tau: 1.0\n    tau: 2.0"),
            "clevrer.predictive.tau: occurs twice",
        ),
        (PARAMETERS.replace(b"    tau:", b"    tau: .nan"), "clevrer.predictive.tau: nan is not finite"),
        (PARAMETERS.replace(b"    tau:", b"    tau: -1.0"), "clevrer.predictive.tau"),
        (PARAMETERS.replace(b"scenes: 200", b"scenes: -5"), "profiles.sample: clevrer.scenes"),
        (PARAMETERS.replace(b"seed: 20\n", b"seed: -1\n", 1), "seed"),
        (b"- 1", "holds no keys and values"),
        (b"? [a]\n: 1", "the key is not a string"),
        (b"null: 1", "null: the key is not a string"),
        (b"a: 2026-99-99", "not YAML"),
        (b"a: !!python/name:os.system", "not YAML"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_the_key(data: bytes, message: str, tmp_path: Path) -> None:
    assert data != PARAMETERS
    (tmp_path / "params.yaml").write_bytes(data)
    with pytest.raises(ParameterError) as caught:
        load_settings(tmp_path / "params.yaml", SETTINGS)
    assert f"{tmp_path / 'params.yaml'}: " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("seed=.nan", "--set: seed: nan is not finite"),
        ("seed=&a [*a]", "--set: seed: line 1: *a is an alias"),
        ("seed=" + "[" * 5000, "--set: seed: line 1: nests"),
        ("seed={a: 1, a: 2}", "--set: seed: a: occurs twice"),
        ("seed=\ud800", "--set: seed: not YAML"),
        ("spark.partitions=0", "--set: spark.partitions: "),
        ("profile=nowhere", "--set: no profile 'nowhere'"),
        ("profiles.sample.babi.questions=-1", "--set: profiles.sample.babi.questions: "),
        ("clevrer.predictive={tau: 9e99}", "--set: clevrer.predictive.tau: "),
        ("profiles.sample.clevrer.scene=3", "Perhaps profiles.sample.clevrer.scenes."),
    ],
)
def test_a_wrong_override_is_an_error_that_names_the_key(setting: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_bytes(PARAMETERS)
    with pytest.raises(ParameterError) as caught:
        load_settings(tmp_path / "params.yaml", SETTINGS, [setting])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text", ["010", "1:30", "4e-1", "1e-6", "0o17", "1_000", ".5", "yes", "null", "2026-01-01", "'010'"]
)
def test_a_value_is_what_dvc_reads_and_writes(text: str, tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(f"tau: {text}\n", "utf-8")
    value = read_yaml(path)["tau"]
    assert (value, type(value)) == (load_yaml(path)["tau"], type(load_yaml(path)["tau"]))
    dump_yaml(path, {"tau": value})
    assert read_yaml(path) == {"tau": value}
    assert override({"tau": 0}, [f"tau={text}"]) == {"tau": value}


@pytest.mark.parametrize("value", ["clevrer.predictive.tau=0.4", "profiles.sample.comphy.targets=12"])
def test_dvc_changes_one_line_of_the_file(value: str, tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_bytes(PARAMETERS)
    apply_overrides(path, [value])
    lines = zip(PARAMETERS.splitlines(), path.read_bytes().splitlines(), strict=True)
    assert sum(before != after for before, after in lines) == 1


def test_the_file_as_it_is_shipped_is_read(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_bytes(PARAMETERS)
    settings = load_settings(tmp_path / "params.yaml", SETTINGS, ["clevrer.predictive.tau=0.4"])
    assert CLEVRER.parameters.of(settings).predictive.tau == 0.4


def test_a_change_of_a_read_value_does_not_reach_the_next_reader(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_bytes(PARAMETERS)
    read_yaml(path)["robustness"]["gqa"] = -1
    assert read_yaml(path)["robustness"]["gqa"] == 30
