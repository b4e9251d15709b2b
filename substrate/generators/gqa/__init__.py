"""A world of everyday scenes that writes GQA's official files, with independent gold.

Scenes are sampled as things with boxes, kinds, attributes and relations, which give questions and gold
answers. The generator uses neither the interpreter nor the TBox, only the file format.
"""

from substrate.generators.gqa.sampling import AMBIGUOUS, QUESTIONS_PER_SCENE, sample, write

__all__ = ["AMBIGUOUS", "QUESTIONS_PER_SCENE", "sample", "write"]
