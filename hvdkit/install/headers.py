"""Headers that TensorFlow's package holds elsewhere than where Horovod, or TensorFlow itself, includes them.

Looked for in the package, not in a table of versions; what is where it is asked for needs nothing. They reach
the compiler by CPLUS_INCLUDE_PATH, behind every folder that Horovod names itself.
"""

from __future__ import annotations

from pathlib import Path

from hvdkit.install.frameworks import Framework

# Beside the toolchain files: where the headers that only include another one are written.
FORWARDING = "include"
# Where Horovod includes a header from -> where TensorFlow has moved it.
_MOVED = {"tensorflow/compiler/xla/client/xla_builder.h": "xla/hlo/builder/xla_builder.h"}
# Libraries that TensorFlow's own headers include without naming the folders in which its package holds them.
_EXTERNAL = ("external/highwayhash", "external/farmhash_archive/src")


def forwarding(frameworks: tuple[Framework, ...]) -> dict[str, str]:
    """File name to text of a header for each that has moved."""
    return {
        f"{FORWARDING}/{asked}": f'#include "{moved}"\n'
        for include in _includes(frameworks)
        for asked, moved in _MOVED.items()
        if not (include / asked).is_file() and (include / moved).is_file()
    }


def folders(frameworks: tuple[Framework, ...], written: Path) -> list[Path]:
    """Where the compiler finds them: in the package, and below `written`, which holds the forwarding ones."""
    libraries = [include / name for include in _includes(frameworks) for name in _EXTERNAL]
    return [folder for folder in (written / FORWARDING, *libraries) if folder.is_dir()]


def _includes(frameworks: tuple[Framework, ...]) -> list[Path]:
    return [framework.root / "include" for framework in frameworks if framework.name == "tensorflow"]
