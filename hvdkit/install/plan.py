"""What will be built: every choice with its reason, and the key under which the wheel is kept.

Plain data and pure functions over what the other modules found; nothing is built or written here.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hvdkit.install import HOROVOD_VERSION, cuda, frameworks, headers, standard, system, toolchain
from hvdkit.install.ignored import ignored

# Horovod's setup.py and CMake files import these while they build (pip installs none of them, since the
# build runs outside isolation), and all but wheel are needed again when Horovod runs. setuptools 81 dropped
# pkg_resources and is the first that Horovod was not seen to build with.
_REQUIREMENTS = ("cffi", "cloudpickle", "packaging", "psutil", "pyyaml", "wheel")
_SETUPTOOLS_BELOW = 81
_GPUS = "HOROVOD_BUILD_CUDA_CC_LIST"
# A person's own settings that change the wheel; they win over ours and are part of the key.
_HONOURED = (
    "CC",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "HOROVOD_BUILD_ARCH_FLAGS",
    _GPUS,
    "HOROVOD_CMAKE",
    "HOROVOD_CPU_OPERATIONS",
)


@dataclass(frozen=True)
class Plan:
    """One Horovod to build.

    demands: who asks for which C++ standard. toolchain: file name to text. variables: environment of the
    build, without folders that differ from machine to machine. requirements: what pip has to install first.
    ignored: what a person set and the build does not follow, with the reason.
    """

    frameworks: tuple[frameworks.Framework, ...]
    system: system.System
    cuda: cuda.Cuda | None
    demands: tuple[standard.Demand, ...]
    toolchain: dict[str, str]
    variables: dict[str, str]
    requirements: tuple[str, ...]
    ignored: dict[str, str]

    @property
    def standard(self) -> int:
        """The C++ standard everything is compiled with."""
        return standard.highest(self.demands)

    @property
    def names(self) -> str:
        """The frameworks with their versions, for a sentence."""
        return " and ".join(f"{framework.name} {framework.version}" for framework in self.frameworks)

    @property
    def controllers(self) -> tuple[str, ...]:
        """Horovod's controllers that the build holds, by their horovodrun flag."""
        return ("gloo", "mpi") if self.system.mpi else ("gloo",)

    def ingredients(self) -> dict[str, object]:
        """Everything that changes the wheel, as JSON-able data."""
        return {
            "horovod": HOROVOD_VERSION,
            "python": f"{sys.implementation.cache_tag} {sysconfig.get_config_var('SOABI')}",
            "platform": self.system.platform,
            "frameworks": {f.name: [f.version, *f.flags] for f in self.frameworks},
            "compiler": self.system.compiler_version,
            "libstdcxx": self.system.libstdcxx,
            "mpi": [self.system.mpi.version, self.system.mpi.show] if self.system.mpi else None,
            "cuda": [self.cuda.version, self.cuda.nccl_version] if self.cuda else None,
            "toolchain": self.toolchain,
            "variables": self.variables,
        }

    @property
    def key(self) -> str:
        """Name of the wheel's folder in the cache: 16 hexadecimal digits over the ingredients."""
        text = json.dumps(self.ingredients(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def make(environment: Mapping[str, str]) -> Plan:
    """Look at this interpreter's environment and decide.

    Raises: the errors of hvdkit.install.errors that name something missing here.
    """
    found = frameworks.installed()
    machine = system.look(environment)
    gpu = cuda.look(found, environment)
    asked = standard.demands(found)
    wanted = standard.highest(asked)
    standard.check_compiler(machine.compiler, wanted)
    chosen = variables(found, machine, gpu, environment)
    return Plan(
        frameworks=found,
        system=machine,
        cuda=gpu,
        demands=asked,
        # Horovod's sources for CUDA have not been compiled together yet.
        toolchain={
            **toolchain.files(wanted, machine.libstdcxx, together=gpu is None),
            **headers.forwarding(found),
        },
        variables=chosen,
        requirements=missing_requirements(),
        ignored=ignored(environment, chosen, gpu),
    )


def variables(
    found: tuple[frameworks.Framework, ...],
    machine: system.System,
    gpu: cuda.Cuda | None,
    environment: Mapping[str, str],
) -> dict[str, str]:
    """The build's environment variables, sorted by name.

    Every part is asked for or ruled out by name: what Horovod's CMake cannot find then fails the build,
    where it would otherwise leave the part out and report success.
    """
    names = {framework.name for framework in found}
    parts = {
        "PYTORCH": "torch" in names,
        "TENSORFLOW": "tensorflow" in names,
        "MXNET": False,
        "GLOO": True,
        "MPI": machine.mpi is not None,
    }
    chosen = {f"HOROVOD_{'WITH' if wanted else 'WITHOUT'}_{part}": "1" for part, wanted in parts.items()}
    chosen["CXX"] = machine.compiler
    # The gloo and flatbuffers inside Horovod ask for CMake 2.8, which CMake 4 no longer knows.
    chosen["CMAKE_POLICY_VERSION_MINIMUM"] = "3.5"
    # Horovod passes make's options on, which no other generator understands.
    chosen["CMAKE_GENERATOR"] = "Unix Makefiles"
    if machine.cpu_flags:
        chosen["HOROVOD_BUILD_ARCH_FLAGS"] = " ".join(machine.cpu_flags)
    if gpu:
        chosen.update(gpu.variables())
    chosen.update({name: environment[name] for name in _HONOURED if environment.get(name)})
    if environment.get(_GPUS):
        chosen[_GPUS] = cuda.capabilities(environment[_GPUS])
    return dict(sorted(chosen.items()))


def missing_requirements() -> tuple[str, ...]:
    """Requirement lines for pip: what Horovod's build and run need and this environment lacks."""
    lines = [name for name in _REQUIREMENTS if _version(name) is None]
    setuptools = _version("setuptools")
    if setuptools is None or int(setuptools.split(".")[0]) >= _SETUPTOOLS_BELOW:
        lines.append(f"setuptools<{_SETUPTOOLS_BELOW}")
    return tuple(lines)


def search_path(environment: Mapping[str, str]) -> str:
    """PATH with this interpreter's programs first: a CMake installed by pip is found without activation."""
    return os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", os.defpath)])


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
