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


_ROOT = str(_HERE.parents[3])
if _ROOT not in sys.path:
    sys.path.append(_ROOT)  # last: it must not hide anything from the script

from hvdkit.verify.hook.install import install  # noqa: E402

install()
_next_sitecustomize()
