"""`hvdkit install-horovod`: the order of things, the options, and what is printed."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from hvdkit import reports
from hvdkit.arguments import CommandParser, parsed
from hvdkit.errors import HvdkitError
from hvdkit.install import HOROVOD_VERSION, build, cache, frameworks, installed, plan, proof, report
from hvdkit.install.errors import ProofError

_DESCRIPTION = f"""\
Builds Horovod {HOROVOD_VERSION} from its released source for the PyTorch, TensorFlow, MPI and CUDA of this
environment, installs it, and proves it with an allreduce on 2 ranks. The wheel is kept in the cache
($HVDKIT_CACHE, else $XDG_CACHE_HOME/hvdkit, else ~/.cache/hvdkit) for the next environment like this one.
"""
_EXAMPLES = """\
hvdkit install-horovod                      build or use the cache, install, prove
hvdkit install-horovod --dry-run            show every choice and command; change nothing
hvdkit install-horovod --check              does the installed build still fit? exit code 1 if not
hvdkit install-horovod --wheel-dir wheels   also leave the wheel there, for other nodes like this one
HOROVOD_WITHOUT_MPI=1 hvdkit install-horovod    Gloo only
"""
_EXITS = {"0": "done", "1": "--check: it does not fit", "2": "Horovod could not be built, or does not work"}


def main(argv: list[str]) -> int:
    """Run `hvdkit install-horovod`. Raises: HvdkitError."""
    options = parsed(parser(), argv[1:])
    environment = {**os.environ, "PATH": plan.search_path(os.environ)}
    if options.check:
        return _check(options.json)
    facts: dict[str, object] = {}
    try:
        made = plan.make(environment)
        facts = report.describe(made)
        store = cache.root(environment)
        if options.dry_run:
            if options.json is not None:
                reports.put_json(options.json, facts)
            if options.json != reports.STDOUT:
                print(report.dry_run(made, store))
            return 0
        facts.update(_install(made, store, environment, options))
    except HvdkitError as error:
        if options.json is not None:
            facts.update(result="failed", seen=error.seen, why=error.why, fix=error.fix)
            reports.put_json(options.json, facts)
        raise
    if options.json is not None:
        reports.put_json(options.json, facts)
    if options.json != reports.STDOUT:
        controllers = " and ".join(made.controllers)
        print(f"Horovod {HOROVOD_VERSION} for {made.names} with {controllers}: {facts['result']}, proven")
    return 0


def parser() -> CommandParser:
    """The arguments of the command."""
    made = CommandParser(
        "install-horovod",
        _DESCRIPTION,
        _EXAMPLES,
        _EXITS,
        usage="hvdkit install-horovod [options]",
    )
    mode = made.add_mutually_exclusive_group()
    mode.add_argument("--dry-run", action="store_true", help="print what would be done and exit")
    mode.add_argument("--check", action="store_true", help="report whether the installed Horovod still fits")
    mode.add_argument("--rebuild", action="store_true", help="compile even if the cache holds the wheel")
    made.add_argument("--wheel-dir", type=Path, metavar="DIR", help="leave a copy of the wheel in DIR")
    reports.add_reports(made, {"--json": "the result as JSON"})
    return made


def _check(place: Path | None) -> int:
    reasons = installed.misfits(frameworks.installed())
    if place is not None:
        reports.put_json(place, {"fits": not reasons, "reasons": reasons})
    if place == reports.STDOUT:
        return 1 if reasons else 0
    if reasons:
        print("\n".join(reasons) + "\n  fix: hvdkit install-horovod")
    else:
        print(f"Horovod {HOROVOD_VERSION} fits this environment")
    return 1 if reasons else 0


def _install(
    made: plan.Plan, store: Path, environment: Mapping[str, str], options: argparse.Namespace
) -> dict[str, object]:
    """Requirements, wheel, installation, proof. Returns what happened, with the seconds each step took."""
    seconds: dict[str, float] = {}
    began = time.monotonic()
    log = cache.log_path(store, "install")
    if made.requirements:
        _say(f"installing {', '.join(made.requirements)}, which Horovod needs")
        build.pip(build.requirements_command(made.requirements), log, environment)
    for line in report.not_followed(made):
        _say(f"ignored: {line}")
    broken = cache.damage(store, made.key)
    if broken:
        _say(f"cached wheel not used: {broken}")
    entry = None if options.rebuild else cache.find(store, made.key)
    result = "from the cache" if entry else "built"
    if entry is None:
        _say(f"compiling for {made.names} with C++{made.standard}; log: {cache.log_path(store, made.key)}")
        entry = build.build_wheel(made, store, environment)
        seconds["build"] = time.monotonic() - began
    if options.wheel_dir:
        _say(f"wheel: {cache.copy_wheel(entry, options.wheel_dir)}")
    if installed.wheel_digest() != entry.sha256:
        build.pip(build.install_command(entry.wheel), log, environment)
    try:
        for step in proof.prove(made, environment):
            seconds[step.what] = step.seconds
            _say(f"proven: {step.what} ({step.seconds:.1f} s)")
    except ProofError:
        cache.drop(store, made.key)  # or the next run would install the same wheel
        raise
    seconds["all"] = time.monotonic() - began
    rounded = {name: round(value, 1) for name, value in seconds.items()}
    return {"result": result, "wheel": str(entry.wheel), "seconds": rounded}


def _say(text: str) -> None:
    print(f"hvdkit: {text}", file=sys.stderr, flush=True)
