"""Records that the doors of `fuzz_doors.py` accept, as a user's files have them."""

from __future__ import annotations

import json

from clevrer_scenes import annotation, event_record, question


def one_annotation() -> bytes:
    """A small annotation of CLEVRER."""
    return json.dumps(annotation([(0, 1, 3)], frames=5)).encode()


EVENTS = event_record(
    ("red cube", "blue cube"),
    [(0, 1, 20)],
    scene_index=3,
    in_outs=[{"frame": 4, "object": [0], "type": "in"}, {"frame": 60, "object": 1, "type": "out"}],
)
QUESTIONS = [
    {
        "scene_index": 3,
        "video_filename": "video_00003.mp4",
        "questions": [
            question("objects count", "2") | {"question_subtype": "count"},
            question("events belong_to", number=1, kind="explanatory", choices=[("events", "correct")]),
        ],
    }
]
HUMANS = {
    "3": {
        "questions": [
            {
                "question_id": 0,
                "question": "Which of the following is responsible for the red cube's stop?",
                "question_type": "explanatory",
                "choices": [{"choice_id": 0, "choice": "the blue cube moves", "answer": "wrong"}],
            }
        ]
    }
}
TRAJECTORIES = {
    "scene_index": 3,
    "objects": EVENTS["objects"],
    "trajectory": {"0": [[0, 0.1, 0.2], [5, 0.2, 0.3]], "1": [[0, 1.0, 1.0]]},
}
CUP = {"name": "cup", "x": 0, "y": 0, "w": 2, "h": 2, "attributes": ["red"], "relations": []}
GRAPHS = {
    "7": {
        "width": 9,
        "height": 9,
        "objects": {"1": CUP, "2": CUP | {"relations": [{"name": "on", "object": "1"}]}},
    }
}
GQA = {
    "11": {
        "question": "What color?",
        "imageId": "7",
        "answer": "red",
        "semantic": [
            {"operation": "select", "argument": "cup (1)", "dependencies": []},
            {"operation": "query", "argument": "color", "dependencies": [0]},
        ],
    }
}
STORIES = (
    b"1 Mary went to the park.\n2 John took the ball.\n"
    b"3 Where is Mary? \tpark\t1\n1 Bo is a cat.\n2 Is Bo a cat?\tyes\t1\n"
)
ANSWERS = b"".join(b'{"spec": %d, "arm": "%c", "answer": "yes"}\n' % (n // 2, b"ab"[n % 2]) for n in range(4))
TWIN_ROW = b'{"benchmark": "twin", "scene": 1, "question": 0, "predicted": "no"}\n'
SPARQL = [
    b"SELECT ?s (COUNT(?o) AS ?n) WHERE { ?s <urn:p> ?o . OPTIONAL { ?o :a/:b* ?x } "
    b"FILTER(?x < 3 && !BOUND(?y)) } GROUP BY ?s",
    b'PREFIX ex: <urn:x#> ASK { ?s ex:p \'a\\u0041\'@en-GB , """b"c""" ; a ex:C . { } '
    b"UNION { VALUES ?s { 1 2.5 true } } }",
    b"CONSTRUCT { ?s ?p <<( ?a ?b ?c )>> } WHERE { ?s ?p ?o MINUS { ?o ?q ( 1 [ ?r 2 ] ) } } "
    b"ORDER BY ?s LIMIT 3 # end",
]
