"""A world of everyday scenes that writes GQA's official files, with truth of its own.

The scenes are sampled as things with boxes, kinds, attributes and relations; questions and their gold
answers are read off those things. Nothing of the interpreter or of the TBox is used: only the file format.
"""

from substrate.generators.gqa.sampling import AMBIGUOUS, QUESTIONS_PER_SCENE, sample, write

__all__ = ["AMBIGUOUS", "QUESTIONS_PER_SCENE", "sample", "write"]
