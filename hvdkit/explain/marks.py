"""Prefixes of a rank's lines, normalized to horovodrun's form, `[RANK]<stdout>:`.

Line numbers stay as they are. Open MPI 5 (PRRTE) names its job in the tag and puts a space behind it,
SageMaker names the rank and the host in Open MPI's tag, Ray writes the process and its address,
`srun --label` writes the task's number, `kubectl logs --prefix` and `docker compose logs` write who
speaks, which is no rank.
"""

from __future__ import annotations

import re

_PRRTE = re.compile(r"\[prte(?:run)?-[^\]\s]*,(\d+)\]<(stdout|stderr|stddiag)>: ?")
_SAGEMAKER = re.compile(r"\[\d+,mpirank:(\d+),[^\]\s]+\]<(stdout|stderr|stddiag)>:")
_LABEL = re.compile(r"^ *(\d+): ?", re.MULTILINE)
_SPEAKER = re.compile(
    r"^(?:\[pod/[^\]\s]+\] |[\w.-]+  *\| |\((?:\w+ )?pid=\d+(?:, ip=[\w.:]+)?\) )", re.MULTILINE
)
# The time that `kubectl logs --timestamps`, `docker logs --timestamps` and log collectors write.
_STAMP = re.compile(
    r"^(?:\d{4}-\d\d-\d\dT[\d:]{8}(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"
    r"|\[\d{4}-\d\d-\d\d[ T][\d:]{8}(?:\.\d+)?Z?\]) ",
    re.MULTILINE,
)
# Lines of the scheduler's own stand between those that `srun --label` marks.
_SCHEDULER = re.compile(r"^(?:srun|slurmstepd|salloc|sbatch): ")
_MOST = 0.8


def plain(text: str) -> str:
    """The same lines with the tags of horovodrun, and without times and the names of pods and containers."""
    text = _SAGEMAKER.sub(r"[\1]<\2>:", _PRRTE.sub(r"[\1]<\2>:", text))
    if _most(text, _SPEAKER):
        text = _SPEAKER.sub("", text)
    if _most(text, _STAMP):
        text = _STAMP.sub("", text)
    return _LABEL.sub(r"[\1]<stdout>:", text) if _most(text, _LABEL) else text


def _most(text: str, mark: re.Pattern[str]) -> bool:
    """Whether nearly every line has this mark: a program's own lines may look like it here and there."""
    lines = [line for line in text.splitlines() if line.strip() and not _SCHEDULER.match(line)]
    return len(lines) > 1 and sum(bool(mark.match(line)) for line in lines) >= _MOST * len(lines)
