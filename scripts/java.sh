#!/bin/sh
# Spark needs a Java runtime, 17 or newer: find the one that it starts, install one, or say how.
# Spark starts the Java of JAVA_HOME, and without JAVA_HOME the one on the PATH, as orchestration's `java_program` says.
set -eu

java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
if [ "$version" -ge 17 ] 2>/dev/null; then exit 0; fi

if [ -n "${JAVA_HOME:-}" ]; then
    echo "JAVA_HOME: $java is ${version:+Java $version, }no Java 17 or newer, and Spark would start it." \
        "Let JAVA_HOME name a newer one, or unset it to use the one on the PATH." >&2
    exit 1
fi

install=""
if command -v apt-get >/dev/null 2>&1; then install="apt-get install --yes --no-install-recommends openjdk-17-jre-headless"
elif command -v dnf >/dev/null 2>&1; then install="dnf install --assumeyes java-17-openjdk-headless"
elif command -v apk >/dev/null 2>&1; then install="apk add openjdk17-jre-headless"
elif command -v brew >/dev/null 2>&1; then install="brew install openjdk@17"
fi

if [ -z "$install" ]; then
    echo "No Java 17 or newer was found. Install one, for instance from https://adoptium.net, and put java on the PATH." >&2
    exit 1
fi
case "$install" in brew*) may=yes ;; *) [ "$(id -u)" -eq 0 ] && may=yes || may=no ;; esac
if [ "$may" = no ]; then
    echo "No Java 17 or newer was found. Install it with: sudo $install" >&2
    exit 1
fi
echo "No Java 17 or newer was found; running: $install" >&2
case "$install" in apt-get*) apt-get update --quiet ;; esac
$install
