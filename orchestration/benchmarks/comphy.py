"""ComPhy: CLEVRER's questions with hidden mass and charge, which four reference videos of a target show.

In the paper's setting nothing hidden is inferred. With ``infer_properties``, mass and charge are inferred
from the reference videos, which goes beyond the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Annotated, Any

import msgspec
from pyoxigraph import NamedNode

from orchestration.base.beyond import beyond
from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.clevrer import explain_asked, wordings_of
from orchestration.benchmarks.transfer import TRANSFER
from substrate.base.delta import Spelled
from substrate.base.errors import ParameterError
from substrate.base.numbered import sources_in
from substrate.cause.explanation import OWN, Explanation
from substrate.cause.pictures import Pictured
from substrate.domains.clevrer.picture import scene_timeline
from substrate.domains.comphy import format
from substrate.domains.comphy.answers import answer_target
from substrate.domains.comphy.deltas import NAMESPACE, target_log
from substrate.domains.comphy.explain import explain as explain_target
from substrate.domains.comphy.parameters import Parameters
from substrate.domains.comphy.scene import Emitter, TargetScene
from substrate.domains.rows import Row
from substrate.generators.comphy.release import WORLD

VIDEO = NamedNode(f"{NAMESPACE}video")
_questions = msgspec.json.Decoder(format.TargetQuestions)
_record = msgspec.json.Decoder(dict[str, msgspec.Raw])


class ComphyData(bm.Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """ComPhy's data: a number of generated targets, or a user's files; the release has no direct address."""

    targets: Annotated[int, bm.Natural] = 0
    annotations: str | None = None
    questions: str | None = None


def cases(files: bm.Files, only: bm.Only = None, unasked: bool = False) -> bm.Cases:
    """Read ComPhy's cases: the annotations of a target and of its references, and the target's questions."""
    annotations = files["annotations"]
    names = format.target_names(annotations)
    raw_questions = format.read_questions(files["questions"]).raw if "questions" in files else {}
    scenes = bm.asked_scenes(names, raw_questions, files, annotations, only, unasked)

    def each() -> Iterator[bm.Case]:
        for scene in scenes:
            videos = [names[scene].target, *names[scene].references]
            # By the names in the archive: stored cases must not depend on its folder.
            sources = zip(videos, sources_in(annotations, videos), strict=True)
            record = msgspec.json.encode({video: msgspec.Raw(data) for video, (_, data) in sources})
            questions = bytes(raw_questions.get(scene, b""))
            yield bm.Case(scene, f"{annotations}:{names[scene].target}", record, questions)

    return bm.Cases(len(scenes), each())


def logs(
    hidden: Callable[[format.Target], Iterable[Spelled]] | None, case: bm.Case, parameters: Parameters
) -> list[bm.NamedLog]:
    """Make a target's log, with or without the properties that the reference videos show.

    Args:
        hidden: finds these properties; ``None`` if it is not installed.
    """
    file = case.source.rpartition(":")[0]
    videos = [(f"{file}:{name}", bytes(data)) for name, data in _record.decode(case.record).items()]
    target = format.decode_target(int(case.scene), videos)
    if parameters.infer_properties and hidden is None:
        hint = "Install event-graph-research, or set it to false"
        what = "mass and charge cannot be inferred here"
        raise ParameterError(what, where=("infer_properties",), hint=hint)
    known = hidden(target) if hidden and parameters.infer_properties else ()
    return [bm.NamedLog(f"{case.scene:05d}", target_log(target, known))]


def rows(
    benchmark: str,
    simulator: Emitter | None,
    case: bm.Case,
    logs: bm.Logs,
    parameters: Parameters,
    split: str,
) -> Iterable[Row]:
    """Answer a target's questions, a row each.

    Args:
        simulator: the emitter of ``emitter: motion``; ``None`` if it is not installed.
    """
    questions = _questions.decode(case.questions).questions
    return answer_target(logs[0], int(case.scene), questions, parameters, split, benchmark, simulator)


def picture(_: bm.Case, why: Explanation, row: Row) -> Pictured:
    """Draw a target's objects and events, and mark steps that use a reference video."""
    steps = (step for part in why.parts for step in part.steps if step.about)
    filmed = any(why.delta(piece).triple[1] == VIDEO for step in steps for piece in step.evidence)
    return Pictured(scene_timeline(TargetScene.of(why.logs[OWN]), why), (), filmed)


TARGETS = bm.Source(
    name="comphy",
    title="ComPhy",
    about="ComPhy's targets with four reference videos each: bodies whose mass and charge only motion shows.",
    data=ComphyData,
    inputs={"annotations": ("annotation.zip", "annotation"), "questions": ("questions.json",)},
    cases=cases,
    official=bm.Release("validation", "validation split"),
    world=(WORLD,),
)


def setting(
    name: str, title: str, place: int, logged: str, about: dict[str, str], **own: Any
) -> bm.Explained:
    """Declare ComPhy in a setting.

    Args:
        logged: a description of the stage of its logs.
    """
    parameters = bm.Section(name, Parameters)
    simulator = beyond("research.domains.comphy.motion:SIMULATED")
    return bm.Explained(
        name=name,
        title=title,
        numbers=(f"{name}/factual/per_question", *bm.per_choice(name, "predictive", "counterfactual")),
        form=f"{name}/TARGET/QUESTION",
        table=(TRANSFER, place),
        source=TARGETS,
        logger=bm.Logger(
            name=name,
            about=logged,
            source=TARGETS,
            logs=partial(logs, beyond("research.domains.comphy.facts:hidden")),
            parameters=parameters,
            depends_on=(f"{name}.infer_properties",),
            shapes="comphy",
        ),
        parameters=parameters,
        rows=partial(rows, name, simulator),
        explain=partial(explain_asked, format.TargetQuestions, partial(explain_target, simulator=simulator)),
        picture=picture,
        wordings=partial(wordings_of, format.TargetQuestions),
        declared={"logs": lambda data: data.targets},
        about=about,
        **own,
    )


COMPHY = setting(
    "comphy",
    "ComPhy, no property inferred",
    0,
    "One event log a target, nothing hidden in it.",
    {
        "answers": "A row a question in the paper's setting: no hidden property is known.",
        "scores": "Accuracy of each subset in the paper's setting, with Wilson's interval.",
    },
)
