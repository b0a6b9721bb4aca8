"""Horovod: installed, built for the frameworks that are installed now, loads, and is the same everywhere.

Its fact holds the frameworks too: they are asked once for all checks that want to know.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hvdkit.examination import probe
from hvdkit.examination.check import Check, Request, differing
from hvdkit.examination.finding import Finding, error, ok
from hvdkit.install import installed

FRAMEWORKS = ("torch", "tensorflow")
_DRIVER = Path("/proc/driver/nvidia/gpus")
_REBUILD = "hvdkit install-horovod"


def gather(request: Request) -> dict[str, Any]:
    """{"torch": see probe.ask, "tensorflow": the same, "engine": HVDKIT_ENGINE, "driver_gpus":
    GPUs that the driver has, "version": Horovod's, "built_against": {...}, "hidden": file that hides a
    package, by package}.
    """
    with ThreadPoolExecutor(len(FRAMEWORKS)) as pool:
        asked = dict(zip(FRAMEWORKS, pool.map(probe.ask, FRAMEWORKS)))
    found = installed.found()
    # Only looked for, by name: nothing of the folder is imported here, and a rank imports it first.
    folder = Path(os.path.abspath(request.script)).parent if request.script else Path.cwd()
    return {
        **asked,
        "engine": os.environ.get("HVDKIT_ENGINE", ""),
        "driver_gpus": len(list(_DRIVER.iterdir())) if _DRIVER.is_dir() else 0,
        "version": found.version if found else None,
        "built_against": found.built_against if found else {},
        "hidden": {package: probe.hidden_by(package, folder) for package in (*FRAMEWORKS, "horovod")},
    }


def judge(fact: dict[str, Any], request: Request) -> Iterator[Finding]:
    """It fits the frameworks, or what does not."""
    if fact.get("engine") == "torch":
        yield ok("not needed: HVDKIT_ENGINE=torch, so hvdkit.torch runs on torch.distributed")
        return
    versions = _versions(fact)
    if fact["version"] is None:
        yield error(
            "Horovod is not installed",
            "ranks communicate through it",
            f"{_REBUILD}; or, for scripts of hvdkit.torch, HVDKIT_ENGINE=torch and hvdkit run --torch",
        )
        return
    found = installed.Found(fact["version"], fact["built_against"])
    reasons = installed.disagreements(found, versions)
    for reason in reasons:
        yield error(reason, "its extension is compiled against one exact framework version", _REBUILD)
    if reasons:
        return
    hidden = _hidden("horovod", fact)
    broken = [fact[name]["horovod"]["error"] for name in versions if "error" in fact[name]["horovod"]]
    for problem in broken:
        yield error(problem, "no rank can use Horovod", f"{_REBUILD} --rebuild")
    if hidden:
        yield hidden
    elif not broken:
        names = " and ".join(f"{name} {version}" for name, version in versions.items())
        yield ok(f"Horovod {fact['version']}, built for {names or 'no framework that imports'}")


def compare(facts: Mapping[str, dict[str, Any]], requests: Mapping[str, Request]) -> Iterator[Finding]:
    """One engine and one version everywhere."""
    engines = differing({host: fact.get("engine") or "unset" for host, fact in facts.items()})
    if engines:
        yield error(
            f"HVDKIT_ENGINE differs between the hosts: {engines}",
            "ranks on Horovod and ranks on torch.distributed cannot connect to each other",
            "set HVDKIT_ENGINE to the same on every host",
        )
    different = differing({host: fact["version"] for host, fact in facts.items()})
    if different:
        yield error(
            f"different Horovod versions: {different}",
            "ranks of different releases cannot read each other's messages",
            f"on every host: {_REBUILD}",
        )


def framework_works(name: str, fact: Mapping[str, Any]) -> Iterator[Finding]:
    """Whether a framework imports; one that is not installed is worth no line while the other is."""
    asked = fact[name]
    if asked is None:
        if name == FRAMEWORKS[0] and not any(fact[each] for each in FRAMEWORKS):
            yield error(
                "neither torch nor tensorflow is installed",
                "a rank trains with one of them",
                "pip install torch",
            )
    elif "error" in asked:
        yield error(asked["error"], "no rank can train with it", f"fix or uninstall {name}")
    elif hidden := _hidden(name, fact):
        yield hidden
    else:
        cuda = f"built for CUDA {asked['cuda']}" if asked["cuda"] else "without CUDA"
        yield ok(f"{name} {asked['version']}, {cuda}")


def _hidden(package: str, fact: Mapping[str, Any]) -> Finding | None:
    """A file of the package's name in the folder of the script, which the ranks import."""
    file = fact["hidden"].get(package)
    if not file:
        return None
    return error(
        f"{file} hides the package {package}",
        f"a script in this folder imports the file as {package}",
        f"rename {file}",
    )


def framework_differs(name: str, facts: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    """Whether the hosts have different versions of a framework."""
    versions = {host: (fact[name] or {}).get("version") for host, fact in facts.items()}
    different = differing(versions)
    if different:
        yield error(
            f"different {name} versions: {different}",
            "ranks would compute different things, and read checkpoints that the others cannot",
            f"on every host: pip install {name}=={next(filter(None, versions.values()))} && {_REBUILD}",
        )


def _versions(fact: Mapping[str, Any]) -> dict[str, str]:
    """The frameworks that import."""
    return {
        name: fact[name]["version"]
        for name in FRAMEWORKS
        if fact[name] is not None and "error" not in fact[name]
    }


CHECK = Check("horovod", "Horovod", gather, judge=judge, compare=compare, timeout_s=probe.TIMEOUT_S + 5)
