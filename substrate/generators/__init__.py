"""The worlds, one folder each: data in official formats, with gold from the world and from no interpreter.

Begin with :mod:`.world`: `substrate generate` and the pipeline know a world only as a ``World``, which the
module ``release`` of each folder declares. :mod:`.layout` writes the records of CLEVRER and ComPhy as a
release's files. A world shares only its format with a domain, and only ComPhy uses another world, CLEVRER.

    babi          a teller moves people and things, keeps the account, and asks (_people, _relations)
    clevrer       rigid bodies: plan, _sampling and physics make a video; events, phrases, choices and
                  descriptive make its questions
    comphy        the same bodies with hidden mass and charge
    gqa           rooms of things (_things), phrases that denote them (_phrases), questions (_questions)
    smallville    villages (_villages) with gold by SQL over their schedule (oracle)
"""
