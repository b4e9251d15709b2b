"""The lock that protects the memory of logs and states.

A thread holds it while it changes a table, a column, an index or a store, never while it writes a file.
A single lock is enough, because the interpreter runs one thread at a time. It also makes forking the process
safe at any moment: the fork waits until every change is complete, so that the child can read.
"""

from __future__ import annotations

import os
from threading import RLock

MEMORY = RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=MEMORY.acquire, after_in_parent=MEMORY.release, after_in_child=MEMORY.release)
