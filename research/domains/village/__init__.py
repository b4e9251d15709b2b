"""A recorded Generative Agents simulation: its file, its event log, and who met whom.

Begin with :mod:`.movements`, the file's format. :mod:`.log` makes an event log of a file, by the rules of the
TBox ``village``. :mod:`.meetings` asks the log who met whom, and checks the answers by a second reading of
the file that shares no code with the log or its rules.
"""
