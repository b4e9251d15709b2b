"""DVC, which holds the bytes of pinned results and runs stages by its own graph.

:mod:`.dvc_files` writes what DVC reads, and has DVC record or restore bytes. It runs :mod:`.commit_script`
as a program of its own.
"""
