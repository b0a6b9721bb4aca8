"""Python runs this in every process of a verified script, before the script's first line.

It hands over to hvdkit and then to the sitecustomize that would have run without it.
"""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _next_sitecustomize() -> None:
    """Run the sitecustomize of this environment, which ours stands in front of."""
    others = [entry for entry in sys.path if Path(entry).resolve() != _HERE]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def _load_hvdkit() -> None:
    """Load hvdkit by itself: a script in a different environment must find nothing of what is next to it."""
    spec = PathFinder.find_spec("hvdkit", [str(_HERE.parents[3])])
    if spec is not None and spec.loader is not None and "hvdkit" not in sys.modules:
        module = sys.modules["hvdkit"] = module_from_spec(spec)
        spec.loader.exec_module(module)


_load_hvdkit()

from hvdkit.verify.hook.install import install  # noqa: E402

install()
_next_sitecustomize()
