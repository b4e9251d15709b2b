"""Install a lock into the environment that runs this script: `make setup`, `make tools` and `make models`.

    .venv/bin/python scripts/environment.py platform      what the pipeline runs on
    .venv/bin/python scripts/environment.py all           and what tests, checks and documentation need
    .venv/bin/python scripts/environment.py models        a language model and its server

pip installs uv from the lock, and uv installs the rest; both check every package against the lock's hashes.
uv does not read pip's configuration, so this script passes on the indexes, links, hosts and certificates that
pip is configured for, unless UV_… variables set them. If uv fails, pip installs the lock. A user's other
settings of pip and uv, such as the folder that they install into, are for other environments and are ignored.

Begin with :func:`install`. A setting of uv comes from the first of these places that has it:

1. the environment of this process, without what is for other environments (:func:`for_this_environment`);
2. uv's own files, if they must be replaced because they also have such settings (:func:`uv_configuration`);
3. pip's configuration (:func:`pip_configuration`, in uv's words: :func:`like_pip`).
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
PROJECT = "event-graph-substrate"
MODELS = ROOT / "requirements-models.lock"
PIP_SOURCES = (
    *("index-url", "extra-index-url", "no-index", "find-links", "trusted-host", "keyring-provider"),
    *("proxy", "cert", "client-cert", "timeout", "default-timeout", "retries", "cache-dir", "no-cache-dir"),
)
"""The options of pip that say from where packages come; its other options are ignored."""
UV_SOURCES = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX",  # and a user and password for each index
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_INSECURE_HOST",
    "UV_KEYRING_PROVIDER",
    "UV_NATIVE_TLS",
    "UV_SYSTEM_CERTS",
    "UV_HTTP",
    "UV_REQUEST",
    "UV_OFFLINE",
    "UV_CACHE_DIR",
    "UV_NO_CACHE",
    "UV_LINK_MODE",
    "UV_CONCURRENT",
    "UV_CONFIG_FILE",
    "UV_NO_CONFIG",
)
"""The beginnings of the variables of uv that say from where packages come, or how fast."""
BUILD = {"editables", "hatchling", "uv"}
"""The packages with which this checkout is installed."""


def blocks(text: str) -> dict[str, tuple[str, set[str]]]:
    r"""The packages of a lock, by name: its lines, and the packages or groups that need it.

    >>> locked = "a==1 \\\n    --hash=sha256:0\n    # via b\nb==2\n    # via x (pyproject.toml:dev)\n"
    >>> blocks(locked)["a"][1]
    {'b'}
    """
    by_name: dict[str, tuple[str, set[str]]] = {}
    for block in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE):
        name = re.match(r"[A-Za-z0-9._-]+", block)
        if name:
            askers = re.findall(r"^    #   (.+)$|^    # via (.+)$", block, flags=re.MULTILINE)
            # A package that has a version for each Python has as many blocks.
            before, by = by_name.get(name[0], ("", set[str]()))
            by_name[name[0]] = before + block, by | {first or second for first, second in askers}
    return by_name


def platform(locked: Mapping[str, tuple[str, set[str]]]) -> set[str]:
    """The packages of a lock without those that only the development groups need."""
    wanted = {
        name for name, (_, askers) in locked.items() if any(_of_project(asker) for asker in askers)
    } | BUILD
    while needed := {name for name, (_, askers) in locked.items() if askers & wanted} - wanted:
        wanted |= needed
    return wanted & locked.keys()


def _of_project(asker: str) -> bool:
    return asker.startswith(PROJECT) and not asker.endswith(":dev)")


def like_pip(configured: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that make uv use the sources that pip is configured for, without those already set.

    >>> like_pip({"index-url": "https://example.org/simple", "cert": "/ca.pem"}, {"SSL_CERT_FILE": "/my.pem"})
    {'UV_DEFAULT_INDEX': 'https://example.org/simple'}
    """
    many = {"extra-index-url": ("UV_INDEX", " "), "find-links": ("UV_FIND_LINKS", ",")}
    single = {"index-url": "UV_DEFAULT_INDEX", "cert": "SSL_CERT_FILE", "proxy": "ALL_PROXY"}
    single |= {"trusted-host": "UV_INSECURE_HOST", "timeout": "UV_HTTP_TIMEOUT", "no-index": "UV_NO_INDEX"}
    if {"UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX"} & environment.keys():
        del single["index-url"], many["extra-index-url"]
    settings = {variable: configured[key] for key, variable in single.items() if configured.get(key)}
    for key, (variable, between) in many.items():
        if places := configured.get(key, "").split():
            settings[variable] = between.join(places)
    return {variable: value for variable, value in settings.items() if variable not in environment}


def pip_configuration() -> dict[str, str]:
    """The options of pip, from its files and, above them, from the environment."""
    listing = _run("-m", "pip", "config", "list", capture=True)
    options: dict[str, str] = {}
    for place in ("global", "install", ":env:"):
        for line in listing.splitlines():
            key, equals, value = line.partition("=")
            section, dot, name = key.rpartition(".")
            if equals and dot and section == place:
                options[name.replace("_", "-")] = str(ast.literal_eval(value))
    return options


def for_this_environment(configured: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables under which pip and uv fill the environment that they run in.

    >>> for_this_environment({"user": "true", "cert": "/ca.pem"}, {"PIP_TARGET": "/mine", "UV_OFFLINE": "1"})
    {'UV_OFFLINE': '1', 'PIP_CONFIG_FILE': '/dev/null', 'PIP_CERT': '/ca.pem'}
    """
    ours = {
        name: value
        for name, value in environment.items()
        if name.startswith(UV_SOURCES) or not name.startswith(("PIP_", "UV_", "PYTHONPATH"))
    }
    options = {key: value for key, value in configured.items() if key in PIP_SOURCES}
    named = {f"PIP_{key.upper().replace('-', '_')}": value for key, value in options.items()}
    return ours | {"PIP_CONFIG_FILE": os.devnull} | named


def uv_configuration(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that replace uv's own files of settings, if one has settings of `uv pip`; else none.

    Of these files, only the indexes and links are taken over.
    """
    folders = environment.get("XDG_CONFIG_HOME") or Path.home() / ".config", "/etc"
    usual = [Path(folder, "uv/uv.toml") for folder in folders]
    files = [Path(environment["UV_CONFIG_FILE"])] if environment.get("UV_CONFIG_FILE") else usual
    tables = [tomllib.loads(path.read_text("utf-8")) for path in files if path.is_file()]
    if not any("pip" in table for table in tables):
        return {}
    indexes, variables = list[str](), dict[str, str]()
    for table in (part for whole in tables for part in (whole, whole.get("pip", {}))):
        for index in (*table.get("index", ()), *({"url": url} for url in table.get("extra-index-url", ()))):
            if index.get("default"):
                variables.setdefault("UV_DEFAULT_INDEX", index["url"])
            else:
                indexes.append(f"{index['name']}={index['url']}" if "name" in index else index["url"])
        if "index-url" in table:
            variables.setdefault("UV_DEFAULT_INDEX", table["index-url"])
        if "find-links" in table:
            variables.setdefault("UV_FIND_LINKS", ",".join(table["find-links"]))
    return {"UV_NO_CONFIG": "1"} | variables | ({"UV_INDEX": " ".join(indexes)} if indexes else {})


def _run(*arguments: str, capture: bool = False, environment: Mapping[str, str] | None = None) -> str:
    command = [sys.executable, *arguments]
    out = subprocess.PIPE if capture else None
    return subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=out, env=environment).stdout


def install(locked: Mapping[str, tuple[str, set[str]]], wanted: Collection[str]) -> None:
    """Install packages of the lock, and this checkout."""
    pip = ["-m", "pip", "install", "--quiet", "--no-deps"]
    checkout = ["--no-build-isolation", "--editable", "."]
    with tempfile.TemporaryDirectory() as folder:
        requirements = _written(Path(folder) / "requirements.txt", locked, wanted)
        configured = pip_configuration()
        ours = for_this_environment(configured, os.environ)
        of_uv = uv_configuration(os.environ) | ours
        settings = of_uv | like_pip(configured, of_uv)  # which gives no variable that `of_uv` has
        if "UV_NO_CONFIG" in settings:
            settings.pop("UV_CONFIG_FILE", None)  # its indexes and links are taken over by now
        try:
            uv_alone = _written(Path(folder) / "uv.txt", locked, {"uv"})
            _run(*pip, "--require-hashes", "--requirement", uv_alone, environment=ours)
            # Like pip, search all indexes for a file; the hashes ensure that it is the right one.
            uv = ["-m", "uv", "pip", "install", "--quiet", "--no-deps", "--python", sys.executable]
            best = ["--index-strategy", "unsafe-best-match"]
            _run(*uv, *best, "--require-hashes", "--requirement", requirements, environment=settings)
            _run(*uv, *checkout, environment=settings)
        except subprocess.CalledProcessError:
            sys.stderr.write("uv could not install the lock (see above); pip does, which takes longer\n")
            _run(*pip, "--require-hashes", "--requirement", requirements, environment=ours)
            _run(*pip, *checkout, environment=ours)
    for entry in Path(sysconfig.get_path("purelib")).glob("_event_graph_*.pth"):
        entry.write_text(in_any_locale(entry.read_text("utf-8")), "ascii")


def in_any_locale(entry: str) -> str:
    """A `.pth` file of ASCII that adds the same folder.

    Python 3.11 decodes such a file by the locale: in `C` it does not start if the path has other letters.

    >>> in_any_locale("checkout")
    'checkout'
    """
    if entry.isascii():
        return entry
    return f"import os, sys; sys.path.append(os.fsdecode({os.fsencode(entry.strip())!r}))\n"


def _written(path: Path, locked: Mapping[str, tuple[str, set[str]]], names: Iterable[str]) -> str:
    path.write_text("".join(locked[name][0] for name in sorted(names)), "utf-8")
    return str(path)


def main() -> None:
    """Install one of the sets."""
    if sys.argv[1:] not in (["platform"], ["all"], ["models"]):
        sys.exit("say platform, all or models")
    if sys.argv[1] == "models":
        ours = for_this_environment(pip_configuration(), os.environ)
        pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
        _run(*pip, "--requirement", str(MODELS), environment=ours)
        return
    locked = blocks(LOCK.read_text("utf-8"))
    install(locked, locked if sys.argv[1] == "all" else platform(locked))


if __name__ == "__main__":
    main()
