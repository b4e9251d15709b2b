"""A stage's code is what runs: nothing that its functions execute or open is missing from it, and a stage
runs again where its code changed and only there.

Three kinds of tests, in this order:

1. each stage runs on a few cases, and :func:`touched` records every definition and file that it uses; the
   stage's code must have all of these (:func:`require_declared`);
2. the stages of GQA run in a project in which the code of some files is declared to be changed;
3. functions in a small tree of packages (``TOY``) show, case by case, which files are the code of a function.
"""

from __future__ import annotations

import ast
import dis
import functools
import gc
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeGuard

import pytest
from commands import python
from model_server import KEY, model_server, some_answer
from releases import write_logs

from orchestration.benchmarks.baselines import LanguageModel
from orchestration.benchmarks.benchmark import Case, Interpreted, Logger, Source
from orchestration.code import PACKAGES, ROOT, code_of, modules
from orchestration.code.closure import Closure
from orchestration.dagster.resources import WorkspaceResource
from orchestration.dagster.run import run_stages
from orchestration.ledger.manifest import read_manifest
from orchestration.lineage.explain import each_here
from orchestration.project import open_workspace
from orchestration.registry import BENCHMARKS, SOURCES, STUDIES
from orchestration.settings import Spark
from orchestration.spark.session import spark_session
from orchestration.stage import Stage
from orchestration.stages import result_stages
from orchestration.stages.graph import STAGES
from orchestration.studies.ablations import POINTS
from orchestration.studies.ablations import rows as ablated
from orchestration.studies.study import parts_of
from substrate.baselines.parameters import MODEL_URL
from substrate.domains.rows import encode
from substrate.log.event_log import EventLog

HOUSE = tuple(f"{ROOT / name}/" for name in PACKAGES)
# The package that decides which code counts; it does not count itself.
COUNTING = f"{ROOT / 'orchestration/code'}/"
TBOXES = f"{ROOT / 'tboxes'}/"
# The stages that show results, and one of each kind of stage that counts scores.
SHOWN = [
    name
    for name in STAGES
    if name.startswith(("tables/", "report/", "provenance/"))
    or name in {"clevrer/scores", "twin/scores", "controlled/scores", "twin/comparisons"}
]
PARTS = parts_of(STUDIES)
# The other stages with functions, but those of scores: they call workers or a language model.
WORKED = [
    name
    for name, stage in STAGES.items()
    if stage.functions and name not in SHOWN and not name.endswith("/scores")
]

_opened: set[str] | None = None


def _on_audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _opened is not None and event == "open" and isinstance(arguments[0], str | os.PathLike):
        _opened.add(os.fspath(arguments[0]))


@functools.cache
def _listen() -> None:
    """An audit hook stays until the process ends, so there is one."""
    sys.addaudithook(_on_audit)


class Touched(NamedTuple):
    """Definitions of the project that are executed or looked up, by file and name; and its files opened."""

    definitions: set[tuple[str, str]]
    files: set[str]


@contextmanager
def touched() -> Iterator[Touched]:
    """All of the project that is executed or opened inside."""
    global _opened
    opened, seen = set[str](), Touched(set(), set())
    # By id: every call looks one up, and to hash a code object takes a hash of everything in it.
    codes: dict[int, tuple[CodeType, dict[str, Any]]] = {}

    def on_call(frame: FrameType, event: str, _: Any) -> None:
        if id(frame.f_code) not in codes:
            codes[id(frame.f_code)] = frame.f_code, frame.f_globals

    _listen()
    forget()
    _opened = opened
    threading.settrace(on_call)
    sys.settrace(on_call)
    try:
        yield seen
    finally:
        sys.settrace(None)
        threading.settrace(None)
        _opened = None
        inside = (file for file in opened if file.startswith((*HOUSE, TBOXES)))
        seen.files.update(_short(Path(file)) for file in inside if not file.endswith((".py", ".pyc")))
        for code, variables in codes.values():
            file = code.co_filename
            if file.startswith(HOUSE) and file.endswith(".py") and not file.startswith(COUNTING):
                seen.definitions.update(_defined(code, variables))


def _defined(code: CodeType, variables: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The definition that contains some code, and those that the code reads from its module's variables."""
    if code.co_name == "<module>":
        return
    file = Path(code.co_filename)
    spans = _statements(file)
    bound = {name for _, names in spans for name in names}
    around = (names for lines, names in spans if code.co_firstlineno in lines)
    prefix = "<lambda> of " if code.co_qualname == "<lambda>" else ""
    yield from ((_short(file), prefix + name) for name in next(around, ()))
    for name in _global_names(code) & variables.keys():
        value = variables[name]
        if name in bound:
            yield _short(file), name
        elif (getattr(value, "__module__", "") or "").startswith(PACKAGES) and hasattr(value, "__qualname__"):
            home = sys.modules[value.__module__].__file__ or ""
            if not home.startswith(COUNTING):
                yield _short(Path(home)), value.__qualname__.partition(".")[0]


@functools.cache
def _global_names(code: CodeType) -> frozenset[str]:
    """The global names that some code reads."""
    return frozenset(op.argval for op in dis.get_instructions(code) if op.opname == "LOAD_GLOBAL")


def _short(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


@functools.cache
def _statements(file: Path) -> list[tuple[range, tuple[str, ...]]]:
    """The lines of the statements at the top of a file, each with the names that they bind."""
    statements: list[tuple[range, tuple[str, ...]]] = []
    for statement in ast.parse(file.read_bytes()).body:
        first = min([statement.lineno, *(word.lineno for word in getattr(statement, "decorator_list", ()))])
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = (statement.name,)
        else:
            targets = getattr(statement, "targets", [getattr(statement, "target", statement)])
            names = tuple(node.id for target in targets for node in ast.walk(target) if _is_stored(node))
        statements.append((range(first, (statement.end_lineno or first) + 1), names))
    return statements


def forget() -> None:
    """Empty the caches of the project, so that cached results are computed, and their files opened, again."""
    wrapper = functools._lru_cache_wrapper
    # Each cache refers to its class; to search for referrers is faster than a loop over all objects.
    for cached in [held for held in gc.get_referrers(wrapper) if type(held) is wrapper]:
        name = cached.__module__
        if name.startswith(PACKAGES) and not name.startswith("orchestration.code"):
            cached.cache_clear()


class Project:
    """A project with a few scenes of everything, which makes data, logs and answers without Spark."""

    def __init__(self) -> None:
        models = [name for name, model in BENCHMARKS.items() if isinstance(model, LanguageModel)]
        few = [f"baselines.{name}.n=2" for name in models]
        self.workspace = open_workspace(None, ("baselines.images=photographs", *few))
        self.settings = self.workspace.settings

    def make(self, source: Source, out: Path) -> None:
        """Write the dataset of a source: the scenes of its world, or CLEVRER's with questions for each."""
        out.mkdir(parents=True, exist_ok=True)
        data = self.settings.data(source.name)
        for world in source.world:  # there is one, or none
            made = [world.make(number, self.settings.seed, data) for number in world.numbers(data)]
            world.write(out, made, self.settings.seed)
            return
        clevrer = SOURCES["clevrer"]
        files = self.files(clevrer)
        scenes = [case.scene for case in clevrer.cases(files, None, False).each]
        (out / "annotations").symlink_to(files["annotations"])
        (out / "questions").write_text(json.dumps({str(scene): ASKED for scene in scenes}), "utf-8")

    def files(self, source: Source) -> dict[str, Path]:
        folder = self.workspace.data / source.name
        if not folder.is_dir():
            self.make(source, folder)
        return source.files(folder)

    def logs(self, logger: Logger) -> list[tuple[Case, dict[str, EventLog]]]:
        cases = logger.source.cases(self.files(logger.source), None, False).each
        built: list[tuple[Case, dict[str, EventLog]]] = []
        for case in cases:
            named = logger.logs(case, logger.parameters.of(self.settings))
            built.append((case, {entry.name: entry.log for entry in named}))
        return built

    def answer(self, benchmark: Interpreted, rows: Any) -> list[bytes]:
        lines: list[bytes] = []
        for case, logs in self.logs(benchmark.logger):
            read = [EventLog.from_patch(log.to_patch()) for log in logs.values()]
            lines += map(encode, rows(case, read, benchmark.parameters.of(self.settings), "generated"))
        return lines


# Questions that people might ask about any scene.
ASKED = {
    "questions": [
        {
            "question_id": number,
            "question": f"Which of the following is responsible for the {color} {shape}'s {what}?",
            "question_type": "explanatory",
            "choices": [
                {"choice_id": 0, "choice": f"the presence of the {color} {shape}", "answer": "wrong"},
                {"choice_id": 1, "choice": f"the {shape} hit the {color} one", "answer": "correct"},
            ],
        }
        for number, (color, shape, what) in enumerate(
            (color, shape, what)
            for color in ("red", "blue", "gray")
            for shape in ("cube", "ball", "cylinder")
            for what in ("moving", "entering", "colliding with the cube")
        )
    ]
}


def work_of(project: Project, name: str, out: Path) -> Callable[[], object]:
    """The work of a stage's workers, on a few cases; all that it needs is there."""
    out.mkdir()
    stage, step = STAGES[name], name.partition("/")[2]
    if name in PARTS and step != "curves":  # its points are too many to ask them all
        _, part = PARTS[name]
        seeded = functools.partial(part.rows, project.settings.seed) if part.seeded else part.rows
        project.files(part.base.source)
        return lambda: project.answer(part.base, seeded)
    benchmark = BENCHMARKS[stage.benchmark]
    if isinstance(benchmark, LanguageModel):
        interpreted = benchmark.base
        cases = project.logs(interpreted.logger)
        write_logs(interpreted.name, {name: log for _, logs in cases for name, log in logs.items()})
        folder = project.workspace.data / benchmark.name
        if step == "answers" and not folder.is_dir():
            STAGES[f"{benchmark.name}/dataset"].run(project.workspace, folder)
        return lambda: stage.run(project.workspace, out / "made")
    assert isinstance(benchmark, Interpreted)
    project.files(benchmark.source)
    if step == "dataset":
        return lambda: project.make(benchmark.source, out / "made")
    if step == "logs":
        return lambda: project.logs(benchmark.logger)
    # Each stage of answers lists its functions in this order.
    _cases, _logs, rows, *_ = stage.functions
    if step == "curves":
        rows = functools.partial(ablated, POINTS[:4])
    return lambda: project.answer(benchmark, rows)


@pytest.fixture(scope="module")
def project(
    tmp_path_factory: pytest.TempPathFactory, small_project: Callable[..., Path]
) -> Iterator[Project]:
    root = small_project(tmp_path_factory.mktemp("few") / "project", scenes=2)
    (root / "photographs").mkdir()
    for image in range(3):
        (root / "photographs" / f"{image}.jpg").write_bytes(b"\xff\xd8 picture %d" % image)
    with pytest.MonkeyPatch.context() as patch, model_server(some_answer) as server:
        patch.chdir(root)
        patch.setenv(MODEL_URL, server.url)
        patch.setenv("SUBSTRATE_MODEL_KEY", KEY)
        yield Project()


@pytest.mark.long
@pytest.mark.parametrize("name", WORKED)
def test_the_code_of_a_stage_has_all_that_its_workers_execute_or_open(
    name: str, project: Project, tmp_path: Path
) -> None:
    made: list[object] = []

    def run(folder: str) -> Touched:
        work = work_of(project, name, tmp_path / folder)
        with touched() as seen:
            made.append(work())
        return seen

    require_declared(STAGES[name], run)
    assert made[-1] is None or made[-1], "the work gave nothing"


@pytest.mark.long
@pytest.mark.parametrize("name", SHOWN)
def test_the_code_of_a_stage_has_all_that_it_executes_or_opens_to_show_results(
    name: str, reproduced: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, stage = open_workspace(), STAGES[name]
    # What workers would execute is seen here.
    monkeypatch.setattr(result_stages, "each_case", lambda at, _, *given: each_here(at, *given))

    def run(folder: str) -> Touched:
        (tmp_path / folder).mkdir()
        with touched() as seen:
            stage.run(workspace, *(tmp_path / folder / out.replace("/", "-") for out in stage.outs))
        return seen

    require_declared(stage, run)


def require_declared(stage: Stage, run: Callable[[str], Touched]) -> None:
    """Check that a stage's code has all that ran or was opened.

    A first run may import a module late, and code that an import executes belongs to no stage: then a second
    run decides.
    """
    closure = Closure(stage.calls)
    missing, count = _missing(stage, closure, run("first"))
    if missing:
        missing, count = _missing(stage, closure, run("second"))
    assert count > 5, "nothing was seen"
    assert missing == set()


def _missing(stage: Stage, closure: Closure, seen: Touched) -> tuple[set[object], int]:
    """The used definitions and files that a stage's code lacks, and the number of definitions used."""
    known = closure.definitions
    # A function without a name counts with the statement around it, or alone, where the stage names it.
    definitions = {
        (file, name)
        for file, name in seen.definitions
        if (file, name.removeprefix("<lambda> of ")) not in known
        and not (name.startswith("<lambda>") and file.removesuffix(".py").replace("/", ".") in closure.data)
    }
    return {*definitions, *(seen.files - stage.code.keys())}, len(seen.definitions)


STEPS = ("gqa/dataset", "gqa/logs", "gqa/answers")


def recorded(root: Path, work: Callable[[], object]) -> set[str]:
    """The stages that leave a new record of their run."""

    def records() -> dict[str, object]:
        manifest = read_manifest(root / "artifacts/sample/.ledger")
        return {name: manifest.stages.get(name) for name in STEPS}

    before = records()
    work()
    return {name for name, written in records().items() if written != before[name]}


def test_a_stage_runs_again_where_its_code_changed_and_only_there(
    make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, changed = make_project(scenes=0), set[str]()
    codes = {name: stage.code for name, stage in STAGES.items()}
    dataset, logs, answers = (set(codes[name]) for name in STEPS)

    def edited(stage: Stage) -> dict[str, str]:
        return {file: "edited" if file in changed else short for file, short in codes[stage.name].items()}

    monkeypatch.setattr(Stage, "code", property(edited))

    def run() -> None:
        run_stages(list(STEPS), WorkspaceResource(profile="sample"))

    assert recorded(root, run) == set(STEPS)
    assert recorded(root, run) == set()
    elsewhere = {file for files in codes.values() for file in files} - dataset - logs - answers
    changed.update(elsewhere)
    assert elsewhere
    assert recorded(root, run) == set()
    # A file of the interpreter makes answers anew, and no log; one of a world makes data anew, and what was
    # made of the same data stays.
    changed.add(min(file for file in answers - logs - dataset if file.startswith("substrate/")))
    assert recorded(root, run) == {"gqa/answers"}
    changed.add(min(file for file in dataset - logs - answers if file.startswith("substrate/generators/")))
    assert recorded(root, run) == {"gqa/dataset"}
    changed.add("tboxes/gqa.ttl")
    assert recorded(root, run) == {name for name in STEPS if "tboxes/gqa.ttl" in STAGES[name].code}


# A small tree of packages; each test adds the module whose code is asked for.
TOY = {
    "substrate/__init__.py": "",
    "substrate/one.py": "ONE = 1",
    "substrate/two.py": "from substrate.one import ONE\nTWO = ONE + 1",
    "substrate/three.py": "THREE = 3",
    "substrate/four.py": "FOUR = 4",
    "substrate/does.py": "from substrate.three import THREE\nstr(THREE)",
    "substrate/late.py": "def THREE(): return 3\ndef FOUR(): return 4",
    "substrate/lazy.py": "from substrate import late\ndef __getattr__(name): return getattr(late, name)",
    "substrate/handed.py": "from substrate.two import TWO as one\nfrom substrate.four import FOUR",
    "orchestration/__init__.py": "",
}


MODULE = "from orchestration.code import code_of; from orchestration import module as m"


@pytest.fixture
def code_in(tmp_path: Path) -> Callable[..., set[str]]:
    """The files of the code of `stage`, a function in a module with some text; without that module."""

    def files(text: str, value: str = "stage", **more: str) -> set[str]:
        modules = {f"orchestration/{name}.py": body for name, body in more.items()}
        for file, body in (TOY | modules | {"orchestration/module.py": text}).items():
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, "utf-8")
        for room in ("orchestration/code", "substrate/base"):
            shutil.copytree(ROOT / room, tmp_path / room, dirs_exist_ok=True)
        program = f"{MODULE}; print('\\n'.join(code_of(m.{value})))"
        done = python("-c", program, cwd=tmp_path, PYTHONPATH="")
        assert done.returncode == 0, done.stderr
        return set(done.stdout.split()) - {"orchestration/module.py"}

    return files


# The parts that a function uses: its module's text, and the other files of its code.
CASES = {
    "an import that only another function uses": (
        "from substrate import three\nfrom substrate.four import FOUR\ndef other(): return FOUR\n"
        "def stage(): return three.THREE",
        ["substrate/three.py"],
    ),
    "a function that a decorator puts into a table": (
        "from substrate.three import THREE\nKNOWN = {}\ndef known(function):\n"
        "    KNOWN[function.__name__] = function\n    return function\n@known\n"
        "def one(): return THREE\ndef stage(): return KNOWN['one']()",
        ["substrate/three.py"],
    ),
    "a module that does something when it is imported": (
        "import substrate.does\ndef stage(): return 1",
        ["substrate/does.py", "substrate/three.py"],
    ),
    "a name that a module finds when it is asked for it": (
        "from substrate.lazy import THREE\ndef stage(): return THREE()",
        ["substrate/late.py", "substrate/lazy.py"],
    ),
    "a name that a module hands on": (
        "from substrate.handed import one\ndef stage(): return one()",
        ["substrate/handed.py", "substrate/one.py", "substrate/two.py"],
    ),
    "the annotation of a parameter of the stage, and no other annotation": (
        "from __future__ import annotations\nfrom substrate.three import THREE\n"
        "from substrate.two import TWO\ndef stage(a: TWO = 1) -> THREE:\n    b: THREE = 2\n"
        "    return b",
        ["substrate/one.py", "substrate/two.py"],
    ),
    "a partial and what it is given": (
        "from functools import partial\nfrom substrate.three import THREE\n"
        "from substrate.four import FOUR\ndef work(one, two): return one()\n"
        "def given(): return THREE\ndef other(): return FOUR\n"
        "stage = partial(partial(work, given), two=2)",
        ["substrate/three.py"],
    ),
    "a value that a partial is given counts by the text that declares it": (
        "from functools import partial\nfrom orchestration.declared import MEADOW\n"
        "def work(shown): return [one.title for one in shown]\nstage = partial(work, (MEADOW,))",
        ["orchestration/declared.py"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_code_of_a_function_is_all_that_it_reaches(case: str, code_in: Callable[..., set[str]]) -> None:
    text, expected = CASES[case]
    declared = (
        "from dataclasses import dataclass\nfrom substrate.four import FOUR\n"
        "from orchestration.code import Declared\n"
        "@dataclass(frozen=True)\nclass Kind(Declared):\n    title: str\n    work: object\n"
        "MEADOW = Kind('A meadow', lambda: FOUR)"
    )
    assert code_in(text, declared=declared) == set(expected)


_ALL_CODE = """
import json, sys
from orchestration.code import modules
modules.CACHE = modules.Path(sys.argv[1])
from orchestration.stages.graph import STAGES
print(json.dumps({name: dict(STAGES[name].code) for name in STAGES}))
"""


def test_the_code_is_the_same_whatever_is_loaded_and_kept(tmp_path: Path) -> None:
    """Here much is loaded, and texts hash at random; another process loads nothing, and its cache is cut."""
    here, cache = {name: dict(stage.code) for name, stage in STAGES.items()}, tmp_path / "kept.msgpack"
    cache.write_bytes((ROOT / modules.CACHE).read_bytes()[:1000])
    done = python("-c", _ALL_CODE, cache, PYTHONHASHSEED="1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == here
    assert cache.stat().st_size > 100_000


def test_a_struct_that_a_function_is_given_counts_by_its_fields() -> None:
    codes = [code_of(functools.partial(spark_session, Spark(shard=size))) for size in (1, 2)]
    assert codes[0] != codes[1]
