"""A project's folders under a profile: their places, the data by name, the tables.

Open :mod:`.folders` first: its :class:`Workspace` says where every file of a profile lies. Each file knows
only files above it:

- :mod:`.storage`: a folder at a URI, on this disk or on other machines;
- :mod:`.tables` of cases in it, :mod:`.log_table` of event logs;
- :mod:`.folders`: the workspace;
- what lies in it: :mod:`.named`, the files behind a dataset; :mod:`.real`, a user's official files;
  :mod:`.requests` to a language model;
- :mod:`.root`: the earlier place of `find_root`.
"""
