#!/bin/sh
# The tests of the UI drive a Chromium: find one, install one where that is allowed, or say how.
# Without one those tests skip, so nothing stops here.
set -eu

for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done

install=""
if command -v apt-get >/dev/null 2>&1; then install="apt-get install --yes --no-install-recommends chromium"
elif command -v dnf >/dev/null 2>&1; then install="dnf install --assumeyes chromium"
elif command -v apk >/dev/null 2>&1; then install="apk add chromium"
fi

if [ -z "$install" ]; then
    echo "No Chromium was found: the browser tests will be skipped. Put chromium or google-chrome on the PATH to run them." >&2
elif [ "$(id -u)" -ne 0 ]; then
    echo "No Chromium was found: the browser tests will be skipped. Install it with: sudo $install" >&2
else
    echo "No Chromium was found; running: $install" >&2
    case "$install" in apt-get*) apt-get update --quiet ;; esac
    $install || echo "Chromium could not be installed: the browser tests will be skipped." >&2
fi
