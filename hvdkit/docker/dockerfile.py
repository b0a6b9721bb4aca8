"""The Dockerfile of a project, on an image of docker/Dockerfile, and what stays out of the image."""

from __future__ import annotations

import json
import re
import shlex

from hvdkit.docker.job import PROJECT, Job
from hvdkit.docker.requirements import Requirements
from hvdkit.notebook import making

REQUIREMENTS = "docker-requirements.txt"
# What means something in a .dockerignore, or ends its line; "?" there is any character.
_UNSAFE = re.compile(r"[^\w./ @+=,-]")

# Not part of a program, or not for everybody who gets the image.
_IGNORED = """\
**/.git
**/.hg
**/.svn
**/.hvdkit
**/.venv
**/venv
**/.tox
**/.nox
**/node_modules
**/__pycache__
**/.ipynb_checkpoints
**/.mypy_cache
**/.pytest_cache
**/.ruff_cache
**/.env
**/.env.*
**/.envrc
**/.netrc
**/.pypirc
**/pip.conf
**/.npmrc
**/.git-credentials
**/.aws
**/.azure
**/.config/gcloud
**/.config/gh
**/.config/hvdkit
**/.docker
**/.kaggle
**/.kube
**/.ssh
**/*.key
**/*.pem
**/*.p12
**/*.pfx
**/*credentials*.json
**/*service*account*.json
**/id_ecdsa*
**/id_ed25519*
**/id_rsa*
"""

_HEAD = """\
# Made by `hvdkit docker`; yours from here on.
#
#   {build_base}
#   docker build{file}{secrets} -t {image} .
#
# The first in a checkout of hvdkit, once for all projects: PyTorch, Horovod and an ssh server.
ARG BASE={base}
FROM ${{BASE}}

USER 0
"""

_CPU_INDEX = """\
# PyTorch's builds without CUDA are on an index of its own.
ARG PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
"""

_INSTALL = """\
COPY {requirements} /tmp/requirements.txt
# The frameworks stay as they are: the image's Horovod was compiled for them.
RUN {secrets}pip list --format freeze --disable-pip-version-check > /tmp/installed.txt \\
    && grep -E '^(horovod|hvdkit|keras|setuptools|tensorflow.*|torch)==' /tmp/installed.txt > /tmp/kept.txt \\
    && pip install --no-cache-dir --constraint /tmp/kept.txt --requirement /tmp/requirements.txt \\
    && rm /tmp/installed.txt /tmp/kept.txt /tmp/requirements.txt
"""

_PATHS = """\
# Where the project's modules are, for every rank however it is started.
RUN printf '%s\\n' {paths} \\
        > "$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/project.pth"
"""

_COPY = """\
# A rank may write beside the script.
RUN install -d -o 1000 -g 1000 {project}
USER 1000
WORKDIR {project}
COPY --chown=1000:1000 . .
"""


def dockerfile(job: Job) -> str:
    """The Dockerfile: the image underneath, what the project needs, the project as it is on disk."""
    inside = job.folder != job.context
    parts = [
        _HEAD.format(
            build_base=job.build_base,
            file=f" -f {job.in_context('Dockerfile')}" if inside else "",
            secrets="".join(f" --secret id={name},env={name}" for name in job.secrets),
            image=job.image,
            base=job.base,
        )
    ]
    if job.requirements:
        if not job.gpu:
            parts.append(_CPU_INDEX)
        parts.append(_INSTALL.format(requirements=job.in_context(REQUIREMENTS), secrets=_mounted(job)))
    if job.paths:
        parts.append(_PATHS.format(paths=" ".join(shlex.quote(str(PROJECT / path)) for path in job.paths)))
    parts.append(_COPY.format(project=PROJECT))
    if job.notebook:
        parts.append(f"RUN {json.dumps(making(*job.notebook))}\n")
    return "".join(parts)


def _mounted(job: Job) -> str:
    """What gives pip the secrets while it runs: none of them gets into a layer."""
    mounts = [f"--mount=type=secret,id={name},required=true" for name in job.secrets]
    exports = [f'{name}="$(cat /run/secrets/{name})" && export {name} \\\n    && ' for name in job.secrets]
    return "".join([*(f"{mount} \\\n    " for mount in mounts), *exports])


def ignored(job: Job) -> str:
    """The .dockerignore: what is not part of the program, what holds credentials, and the generated files
    that are used outside."""
    here = [job.in_context(name) for name in ("Dockerfile", "compose.yaml", "mpijob.yaml", "pytorchjob.yaml")]
    withheld = [_UNSAFE.sub("?", path) for path in job.withheld]
    return _IGNORED + "".join(f"{path}\n" for path in [*withheld, *here])


def required(needed: Requirements) -> str:
    """The requirements file that the Dockerfile installs."""
    head = (
        f"# Made by `hvdkit docker` from {needed.source}: what the image underneath does not hold.\n"
        "# After a change there: hvdkit docker SCRIPT --force\n"
    )
    left = "".join(f"# {line}: {instead}\n" for line, instead in needed.changed)
    return head + left + "".join(f"{line}\n" for line in needed.lines)
