"""The commands beyond the paper's; `substrate/cli/platform.py` and the command trees find them by name.

`clevrer.py`  `substrate predict clevrer` and `perceive clevrer`, on a user's files, without the platform
`score.py`    `substrate score twin`; needs the platform only if no specifications are named
`paper.py`    `substrate paper`; needs the platform

Heavy imports stand in the functions where a command's `--help` must be quick.
"""
