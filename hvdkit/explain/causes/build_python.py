"""Horovod's setup.py does not run under this Python or setuptools."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="build_python",
    title="Horovod's setup.py does not run with this Python or its setuptools: {said}",
    why=(
        "Horovod 0.28.1 is of 2023: its setup.py uses parts of setuptools and of Python that newer ones "
        "no longer have, and pip's build environment takes the newest."
    ),
    fix=(
        "hvdkit install-horovod, which brings what the build needs; with pip: python -m pip install "
        "'setuptools<81' wheel packaging, then pip install --no-build-isolation horovod"
    ),
    find=says(
        r"(?P<said>module 'pkgutil' has no attribute 'ImpImporter')",
        r"(?P<said>install_layout)\b",
        r"(?s)(?:setup\.py|pip-install|egg_info)(?:(?!Traceback).){0,1500}?(?P<said>No module named '"
        r"(?:packaging|distutils|pkg_resources|imp|setuptools|wheel)')",
        r"(?P<said>cannot import name '\w+' from 'setuptools[\w.]*')",
        in_job=True,
    ),
    excerpt="""\
      ModuleNotFoundError: No module named 'packaging'
""",
    general={"said": "a part is missing"},
    source="https://github.com/horovod/horovod/issues/3744",
)
