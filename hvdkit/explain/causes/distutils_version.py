"""An old PyTorch and a new setuptools."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="distutils_version",
    title=("this PyTorch's TensorBoard writer does not know the setuptools that is installed{where}"),
    why=(
        "PyTorch before 1.11 takes distutils.version from setuptools, which 59.6 and later no longer "
        "import by themselves."
    ),
    fix=(
        "python -m pip install 'setuptools<59.6' on every host, or a newer PyTorch and hvdkit "
        "install-horovod --rebuild"
    ),
    find=says(
        r"AttributeError: module 'distutils' has no attribute 'version'",
        in_job=True,
    ),
    excerpt="""\
AttributeError: module 'distutils' has no attribute 'version'
""",
    source="https://github.com/pytorch/pytorch/issues/69894",
)
