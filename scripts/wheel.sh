#!/bin/sh
# Build wheel and sdist, and try the wheel alone: from wheels only, on each Python that is here, its size, its tests, its types.
# Needs the project's own environment (make setup). Exit code 1 where a promise of the wheel is broken.
set -eu
cd "$(dirname "$0")/.."
ROOT=$(pwd)
UV=$ROOT/.venv/bin/uv
PYTHONS=${PYTHONS:-"3.11 3.12 3.13"}
MOST_PACKAGES=6
MOST_MEGABYTES=60
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

.venv/bin/python -m hatchling build --directory "$WORK/dist" >/dev/null
WHEEL=$(ls "$WORK"/dist/*.whl)
ls "$WORK"/dist/*.tar.gz >/dev/null
echo "built $(basename "$WHEEL")"
beside=$(.venv/bin/python -m zipfile -l "$WHEEL" | awk 'NR > 1 { print $1 }' | grep -v -e '^substrate/' -e '\.dist-info/' || true)
if [ -n "$beside" ] || ! .venv/bin/python -m zipfile -l "$WHEEL" | grep -q '^substrate/tboxes/village.ttl '; then
    echo "the wheel holds more than substrate, or no TBoxes: $beside" >&2
    exit 1
fi

# Away from the checkout, so that nothing but the wheel can be imported.
mkdir "$WORK/tests"
cp -R tests/core tests/library "$WORK/tests"
cd "$WORK/tests"

# An interpreter of a version: on the path, or one of pyenv's.
find_python() {
    for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != tuple(map(int, sys.argv[1].split("."))))' "$1" 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

tried=0
for version in $PYTHONS; do
    if ! python=$(find_python "$version"); then
        echo "Python $version: not on this machine, skipped"
        continue
    fi
    tried=$((tried + 1))
    venv=$WORK/venv-$version
    "$UV" venv --quiet --python "$python" "$venv"
    "$UV" pip install --quiet --python "$venv/bin/python" --only-binary :all: "$WHEEL"
    packages=$("$UV" pip list --quiet --python "$venv/bin/python" --format freeze | wc -l)
    kilobytes=$(du -sk "$venv/lib" | cut -f1)
    echo "Python $version: $packages packages, $((kilobytes / 1024)) MB"
    if [ "$packages" -gt "$MOST_PACKAGES" ] || [ "$kilobytes" -gt $((MOST_MEGABYTES * 1024)) ]; then
        echo "more than $MOST_PACKAGES packages or $MOST_MEGABYTES MB" >&2
        exit 1
    fi
    "$venv/bin/substrate" --version
    if said=$("$venv/bin/substrate" log show nothing.rdfp 2>&1); then
        echo "the command runs without its extra: $said" >&2
        exit 1
    fi
    case $said in
    *"event-graph-substrate[cli]"*) ;;
    *)
        echo "the command does not name its extra: $said" >&2
        exit 1
        ;;
    esac
    "$UV" pip install --quiet --python "$venv/bin/python" --only-binary :all: pytest hypothesis
    "$venv/bin/python" -m pytest -q -W error --import-mode=importlib -p no:cacheprovider core library
    "$ROOT/.venv/bin/pyright" --pythonpath "$venv/bin/python" core
    "$UV" pip install --quiet --python "$venv/bin/python" --only-binary :all: "$WHEEL[cli]"
    "$venv/bin/substrate" generate twin --specs 2 --out "$WORK/twin-$version"
    printf '{"spec": %s, "arm": "%s", "answer": "no"}\n' 0 a 0 b 1 a 1 b > "$WORK/answers.jsonl"
    "$venv/bin/substrate" score twin "$WORK/answers.jsonl" --specs "$WORK/twin-$version/specs.jsonl" | head -4
    "$venv/bin/python" - "$WORK/log-$version.rdfp" <<'PROGRAM'
import sys
from substrate import EventLog, Namespace

name = Namespace("urn:")
EventLog.open(sys.argv[1]).insert(name.ann, name.at, name.cafe, tick=0)
PROGRAM
    "$venv/bin/substrate" log show "$WORK/log-$version.rdfp" | grep -q 'insert'
    if said=$("$venv/bin/substrate" reproduce 2>&1); then
        echo "a command of the platform runs without it: $said" >&2
        exit 1
    fi
done
if [ "$tried" -eq 0 ]; then
    echo "none of Python $PYTHONS is on this machine" >&2
    exit 1
fi
