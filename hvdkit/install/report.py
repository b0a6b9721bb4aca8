"""A plan as data for machines and as text for people: both from the same dictionary."""

from __future__ import annotations

import platform
import shlex
from importlib.metadata import version
from pathlib import Path

from hvdkit.install import HOROVOD_VERSION, build, cache
from hvdkit.install.plan import Plan


def describe(plan: Plan) -> dict[str, object]:
    """The environment and the choices of a plan, JSON-able."""
    cuda = plan.cuda
    return {
        "horovod": HOROVOD_VERSION,
        "python": platform.python_version(),
        "platform": plan.system.platform,
        **dict.fromkeys(("torch", "tensorflow")),
        **{framework.name: framework.version for framework in plan.frameworks},
        "compiler": plan.system.compiler_version,
        "cmake": plan.system.cmake_version,
        "mpi": plan.system.mpi.version if plan.system.mpi else None,
        "cuda": f"{cuda.version}, NCCL {cuda.nccl_version}" if cuda else None,
        "pip": version("pip"),
        "standard": plan.standard,
        "demands": [{"standard": demand.standard, "source": demand.source} for demand in plan.demands],
        "variables": plan.variables,
        "ignored": plan.ignored,
        "key": plan.key,
    }


def not_followed(plan: Plan) -> list[str]:
    """A line for each variable that is set and not followed."""
    return [f"{setting}: {reason}" for setting, reason in plan.ignored.items()]


def dry_run(plan: Plan, store: Path) -> str:
    """What `hvdkit install-horovod` would do, as text."""
    facts = describe(plan)
    entry = cache.find(store, plan.key)
    target = "WHEELS" if entry is None else str(entry.wheel)
    lines = [
        f"Horovod {HOROVOD_VERSION} for",
        *(f"  {name:<11}{facts[name] or '-'}" for name in FACTS),
        "",
        f"C++{plan.standard}, the highest that is required:",
        *(f"  C++{demand.standard}  {demand.source}" for demand in plan.demands),
        "",
        "build environment:",
        *(f"  {name}={shlex.quote(value)}" for name, value in plan.variables.items()),
    ]
    if plan.ignored:
        lines += ["", "set here, and ignored:", *(f"  {line}" for line in not_followed(plan))]
    for name, text in plan.toolchain.items():
        lines += ["", f"{name}:", *(f"  {line}" for line in text.splitlines())]
    lines += [
        "",
        f"cached wheel: {entry.wheel if entry else f'none under key {plan.key} in {store}'}",
        "",
        "commands:",
    ]
    commands = [build.requirements_command(plan.requirements)] if plan.requirements else []
    if entry is None:
        commands.append(build.wheel_command(Path(target)))
        target += f"/horovod-{HOROVOD_VERSION}-*.whl"
    commands.append(build.install_command(Path(target)))
    return "\n".join(lines + [f"  {shlex.join(command)}" for command in commands])


# The facts that tell one environment from another, in the order in which they are shown.
FACTS = ("python", "torch", "tensorflow", "compiler", "cmake", "mpi", "cuda", "pip", "platform")
