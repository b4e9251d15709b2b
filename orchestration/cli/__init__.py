"""The commands of the platform; no other room imports them.

Begin with :mod:`.main`: it makes the command, adds the library's groups, and has the short commands. It takes
the others from their modules. The function of a command has its options and prints its result; the work is in
other rooms, which the command imports when it runs, so that `substrate --help` stays fast.

    console       for all commands: options, the files that a user names, the events of a run
    results       `reproduce`, `materialize`, `verify`, `accept`
    reproduce     the work of `reproduce`: nothing to do, or a run
    graph_run     the run: stages, comparison with the pins, remembered outcome
    reproduction  the records of both: the options, and the outcome with its last line
    tables        the tables of a run on a terminal, for `reproduce --tables`
    trace         the work of `trace`, with the outlines of trace.txt.j2
    claims        `claims`, also used by `trace` with a claim's name
    answer        the group `answer`
    experiment    the group `experiment`
"""
