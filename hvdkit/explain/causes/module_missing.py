"""A Python package is not installed."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import Log

# Where Python ends with it: at the end of a traceback, or what `python -m NAME` says.
_ERROR = re.compile(r"^ModuleNotFoundError: No module named '(?P<name>[\w.]+)'$")
# What was Python's own, or setuptools', and is no more: no package of that name brings it back.
_SETUPTOOLS = {
    "distutils": (
        "python -m pip install setuptools, which brings distutils to Python 3.12 and later, where it is "
        "no part"
        " of Python any more; or run the ranks with Python 3.11"
    ),
    "pkg_resources": "python -m pip install 'setuptools<81', which still brings pkg_resources",
}
_REMOVED = ("imp", "asynchat", "asyncore", "smtpd")
# Modules whose package has another name.
_DISTRIBUTIONS = {
    "PIL": "pillow",
    "absl": "absl-py",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "google": "protobuf",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
_STARTED = re.compile(
    r"^\S*python[\d.]*: (?:No module named |Error while finding module specification for '[\w.]+' "
    r"\(ModuleNotFoundError: No module named ')(?P<name>[\w.]+)(?:'\))?$",
    re.MULTILINE,
)


def find(log: Log) -> Match | None:
    if not log.is_job:
        return None
    found = [
        (one.number, one.rank, hit["name"]) for one in log.tracebacks if (hit := _ERROR.match(one.error))
    ]
    found += [(hit.line.number, hit.line.rank, hit.groups["name"]) for hit in log.all(_STARTED)]
    if not found:
        return None
    line, rank, name = min(found, key=lambda one: one[0])
    where = "" if rank is None else f" on rank {rank}"
    return Match(line, {"name": name, "where": where, "install": _install(name)})


def _install(name: str) -> str:
    top, _, inner = name.partition(".")
    if top in _SETUPTOOLS:
        return _SETUPTOOLS[top]
    if top in _REMOVED:
        return f"a newer version of the package that imports {top}, which Python 3.12 removed; or Python 3.11"
    if top == "horovod" and inner:
        return "hvdkit install-horovod, on every host; or rename a folder called horovod that hides it"
    if top == "horovod":
        return "hvdkit install-horovod, on every host"
    package = f" (python -m pip install {_DISTRIBUTIONS[top]})" if top in _DISTRIBUTIONS else ""
    return f"install the package that holds {name}{package} into the Python that the ranks run, on every host"


CAUSE = Cause(
    id="module_missing",
    title="the Python package {name} is not installed{where}",
    why=(
        "The ranks run with the Python that the launcher was given; it is another environment than "
        "yours, or this host lacks the package."
    ),
    fix="{install}",
    find=find,
    excerpt="""\
ModuleNotFoundError: No module named 'albumentations_not_here'
""",
    level=Level.OWN,
    general={"name": "NAME", "install": _install("NAME")},
)
