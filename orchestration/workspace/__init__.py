"""A project's folders under a profile: their places, the data by name, the tables.

Open :mod:`.folders` first: its :class:`Workspace` says where every file of a profile lies. Each file knows
only files above it:

- :mod:`.storage`: the place of all tables, a folder at a URI, on this disk or on other machines;
- :mod:`.tables`: a table there, in shards, and its manifest; also the table of a source's cases;
- :mod:`.log_table`: the table of a logger's event logs, which is found by the hash of their index;
- :mod:`.folders`: the workspace;
- about the data in it: :mod:`.dataset_files`, the files behind a dataset and their kind;
  :mod:`.official_files`, the files of the profile `real`, which a user has in a folder;
  :mod:`.model_requests`, the requests to a language model and their replies;
- :mod:`.root`: the earlier place of `find_root`.
"""
