"""Other ways to answer: language models that act before they answer, and trivial methods.

Begin with :mod:`.agent`: one conversation in which a model may use tools. :mod:`.village_tools` gives it a
memory of a village, by the substrate or by a search. :mod:`.reading` asks a model that only reads.
:mod:`.shortcuts` has the trivial methods, which ask no model.
"""
