"""The lock for what logs and states hold in memory.

It is held for as long as a table, a column, an index or a store is changed, never while a file is
written. One for all is enough where the interpreter runs one thread at a time, and it lets a process
be forked at any moment: the fork waits until everything is whole, so that the child can read.
"""

from __future__ import annotations

import os
from threading import RLock

MEMORY = RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=MEMORY.acquire, after_in_parent=MEMORY.release, after_in_child=MEMORY.release)
