#!/bin/sh
# Known vulnerabilities of the packages in requirements.lock, by pip-audit; where it cannot ask, it fails.
#   sh scripts/audit.sh [FOLDER OF EXECUTABLES]
set -eu
bin=${1:-.venv/bin}
said=$(mktemp)
trap 'rm -f "$said"' EXIT
code=0
"$bin/uv" tool run --python "$bin/python" pip-audit --requirement requirements.lock --require-hashes --disable-pip \
    --progress-spinner off >"$said" 2>&1 || code=$?
cat "$said"
if [ "$code" -ne 0 ] && grep -qiE 'ConnectionError|ServiceError|timed out|Max retries|Failed to (connect|fetch)|client error|not found in the package registry|dns error' "$said"; then
    echo "audit: not done: pip-audit, or the service that it asks, cannot be reached from here" >&2
    exit 2
fi
unknown=$(grep -c 'could not be audited' "$said") || true
if [ "$unknown" -gt 0 ]; then
    echo "audit: $unknown packages were not audited: the service that is reached from here does not know them" >&2
    exit 2
fi
exit "$code"
