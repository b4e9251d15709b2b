"""ComPhy worlds: targets with hidden mass and charge and four reference videos each, with independent gold.

    from substrate.generators.comphy import target_files
    from substrate.generators.layout import encode_scene, write_release

    write_release(out, (encode_scene(target_files(index, seed=7)) for index in range(60)))

Gold answers come from the simulation itself: the future from hidden seconds, the counterfactual from a second
simulation with the new mass or charge. No program is ever run.
"""

from substrate.generators.comphy._target import TargetTruth, WorldTarget, generate_target, target_files

__all__ = ["TargetTruth", "WorldTarget", "generate_target", "target_files"]
