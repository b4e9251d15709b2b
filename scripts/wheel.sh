#!/bin/sh
# Build wheel and sdist, and try the wheel alone: from wheels only, on each Python that is here, its size, its tests, its types.
# Then the wheel of what goes beyond the paper beside it, without the platform, and the compiled engine, where a C compiler is here.
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

# 1. Build, and look at the list of files in the wheel.
.venv/bin/python -m hatchling build --directory "$WORK/dist" >/dev/null
WHEEL=$(ls "$WORK"/dist/*.whl)
(cd research && ../.venv/bin/python -m hatchling build --target wheel --directory "$WORK/beyond" >/dev/null)
BEYOND=$(ls "$WORK"/beyond/*.whl)
SOURCES=$(ls "$WORK"/dist/*.tar.gz)
echo "built $(basename "$WHEEL") and $(basename "$BEYOND")"
held=$(.venv/bin/python -m zipfile -l "$WHEEL" | awk 'NR > 1 { print $1 }')
beside=$(echo "$held" | grep -v -e '^substrate/' -e '\.dist-info/' || true)
if [ -n "$beside" ] || ! echo "$held" | grep -qx 'substrate/tboxes/village.ttl'; then
    echo "the wheel holds more than substrate, or no TBoxes: $beside" >&2
    exit 1
fi

# Away from the checkout, so that nothing but the wheel can be imported.
mkdir "$WORK/tests"
cp -R tests/core tests/library "$WORK/tests"
cp tests/support/crash_states.py tests/support/histories.py "$WORK/tests"
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

# A command that must not run, and what its error must say.
refused() {
    wanted=$1
    shift
    if said=$("$venv/bin/substrate" "$@" 2>&1); then
        echo "substrate $* runs without what it needs: $said" >&2
        exit 1
    fi
    case $said in
    *"$wanted"*) ;;
    *)
        echo "substrate $* does not say $wanted: $said" >&2
        exit 1
        ;;
    esac
}

thing() { printf '{"color": "red", "material": "metal", "shape": "%s", "id": %s}' "$1" "$2"; }
printf '{"scene_index": 1, "objects": [%s, %s], "trajectory": {"0": [[75, -1.14, 0], [80, -1, 0]], "1": [[75, 0, 0], [80, 0, 0]]}}\n' \
    "$(thing sphere 0)" "$(thing cube 1)" > "$WORK/tracks.jsonl"

# 2. On each Python: install the wheel alone, look at its size, run its tests, then add the extra and the second wheel.
tried=0
for version in $PYTHONS; do
    if ! python=$(find_python "$version"); then
        echo "Python $version: not on this machine, skipped"
        continue
    fi
    newest=$python
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
    refused "event-graph-substrate[cli]" log show nothing.rdfp
    refused "pip install event-graph-research" perceive --help
    "$UV" pip install --quiet --python "$venv/bin/python" --only-binary :all: pytest hypothesis
    # What is left out drives the command, or reads the platform's files.
    PYTHONPATH=$WORK/tests "$venv/bin/python" -m pytest -q -W error -W ignore::pytest.PytestUnraisableExceptionWarning \
        --import-mode=importlib -p no:cacheprovider --ignore=core/test_repair.py \
        --deselect=core/test_reading.py::test_one_variable_limits_depth_time_and_memory_too core library
    "$UV" pip install --quiet --python "$venv/bin/python" --only-binary :all: "$WHEEL[cli]"
    "$ROOT/.venv/bin/pyright" --pythonpath "$venv/bin/python" core
    "$venv/bin/substrate" generate twin --specs 2 --out "$WORK/twin-$version"
    "$venv/bin/python" - "$WORK/log-$version.rdfp" <<'PROGRAM'
import sys
from substrate import EventLog, Namespace

name = Namespace("urn:")
EventLog.open(sys.argv[1]).insert(name.ann, name.at, name.cafe, tick=0)
PROGRAM
    "$venv/bin/substrate" log show "$WORK/log-$version.rdfp" | grep -q 'insert'
    refused "the platform's commands" reproduce
    refused "pip install event-graph-research" predict --help
    "$UV" pip install --quiet --python "$venv/bin/python" --only-binary :all: "$BEYOND"
    "$venv/bin/substrate" perceive --help >/dev/null
    printf '{"spec": %s, "arm": "%s", "answer": "no"}\n' 0 a 0 b 1 a 1 b > "$WORK/answers.jsonl"
    "$venv/bin/substrate" score twin "$WORK/answers.jsonl" --specs "$WORK/twin-$version/specs.jsonl" | head -4
    "$venv/bin/substrate" predict clevrer --trajectories "$WORK/tracks.jsonl" --at 80 --out "$WORK/pairs-$version.jsonl"
    grep -q '"collisions": \[\[0, 1\]\]' "$WORK/pairs-$version.jsonl"
done
if [ "$tried" -eq 0 ]; then
    echo "none of Python $PYTHONS is on this machine" >&2
    exit 1
fi
# 3. Compile the engine, and compare the motion that it gives with that of the Python module.
if command -v cc >/dev/null; then
    compiled=$WORK/venv-compiled
    "$UV" venv --quiet --python "$newest" "$compiled"
    HATCH_BUILD_HOOK_ENABLE_MYPYC=1 "$UV" pip install --quiet --python "$compiled/bin/python" "$SOURCES"
    for python in "$venv/bin/python" "$compiled/bin/python"; do
        "$python" - <<'PROGRAM'
from substrate.domains.clevrer.motion import Body, engine, simulate

bodies = [Body(k, shape, 0.9 * k, 0.05 * k, 3.0 - k, 0.2) for k, shape in enumerate(["cube", "sphere", "cube"])]
print(simulate(bodies, 128, trace=True))
print(engine.__file__.rpartition(".")[2])
PROGRAM
    done > "$WORK/motions"
    # Three different lines: both motions are one line, and each module has its own file ending.
    if [ "$(sort -u "$WORK/motions" | wc -l)" -ne 3 ]; then
        echo "the engine was not compiled, or a compiled one moves bodies otherwise" >&2
        exit 1
    fi
    echo "the compiled engine: the same bits"
fi
