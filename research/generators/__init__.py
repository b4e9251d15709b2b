"""Generated data beyond the paper's. Each file changes or makes one kind of data, and imports no other file.

- Changed by rule and chance, for the study of robustness: :mod:`.inexact_films` (annotations),
  :mod:`.inexact_graphs` (scene graphs), :mod:`.retold` (stories). :mod:`.altered` changes a world's physics.
- :mod:`.proposals`: a generated scene as a detector would see it, for perception.
- :mod:`.from_truth`: questions about real videos, with gold counted from their true events.
"""
