#!/bin/sh
# The adapters against the real packages of the registry, in an environment of their own: some of them ask for other
# versions of what the platform pins. Needs the project's own environment (make setup). VENV names a folder to keep.
set -eu
cd "$(dirname "$0")/.."
UV=$(pwd)/.venv/bin/uv
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
VENV=${VENV:-$WORK/venv}

.venv/bin/python -m hatchling build --target wheel --directory "$WORK/dist" >/dev/null
(cd research && ../.venv/bin/python -m hatchling build --target wheel --directory "$WORK/dist" >/dev/null)
[ -x "$VENV/bin/python" ] || "$UV" venv --quiet --python 3.11 "$VENV"
"$UV" pip install --quiet --python "$VENV/bin/python" --reinstall-package event-graph-substrate \
    --reinstall-package event-graph-research --find-links "$WORK/dist" \
    "$(ls "$WORK"/dist/event_graph_substrate-*.whl)[bridges,inspect,mcp,shacl]" \
    pytest hypothesis gymnasium

# Away from the checkout, so that the installed package and its entry points are what is tried.
cp -R tests/adapters "$WORK/adapters"
cp -R tests/research/exporters "$WORK/exporters"
rm "$WORK/exporters/test_paper.py" # it needs the platform
cd "$WORK"
"$VENV/bin/python" -m pytest -q -ra --import-mode=importlib -p no:cacheprovider adapters exporters
