"""CLEVRER worlds: scenes simulated with rigid bodies, in the official format, with independent gold.

    from substrate.generators.clevrer import scene_files
    from substrate.generators.layout import encode_scene, write_release

    write_release(out, (encode_scene(scene_files(index, seed=7)) for index in range(10_000, 10_100)))

Gold answers come from the simulation itself: the future from hidden seconds, the counterfactual from a second
simulation without the object, the causes from the contacts. No program is ever run.
"""

from substrate.generators.clevrer.scene import (
    WorldScene,
    generate_annotation,
    generate_scene,
    predictive_questions,
    scene_files,
)

__all__ = ["WorldScene", "generate_annotation", "generate_scene", "predictive_questions", "scene_files"]
