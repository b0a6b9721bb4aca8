"""Prefixes of a rank's lines, normalized to horovodrun's form, `[RANK]<stdout>:`.

Line numbers stay as they are. Open MPI 5 (PRRTE) names its job in the tag and puts a space behind it,
`srun --label` writes the task's number, `kubectl logs --prefix` and `docker compose logs` write who
speaks, which is no rank.
"""

from __future__ import annotations

import re

_PRRTE = re.compile(r"\[prte(?:run)?-[^\]\s]*,(\d+)\]<(stdout|stderr|stddiag)>: ?")
_LABEL = re.compile(r"^ *(\d+): ?", re.MULTILINE)
_SPEAKER = re.compile(r"^(?:\[pod/[^\]\s]+\] |[\w.-]+  *\| )", re.MULTILINE)
# Lines of the scheduler's own stand between those that `srun --label` marks.
_SCHEDULER = re.compile(r"^(?:srun|slurmstepd|salloc|sbatch): ")
_MOST = 0.8


def plain(text: str) -> str:
    """The same lines with the tags of horovodrun, and without the names of pods and containers."""
    text = _PRRTE.sub(r"[\1]<\2>:", text)
    if _most(text, _SPEAKER):
        text = _SPEAKER.sub("", text)
    return _LABEL.sub(r"[\1]<stdout>:", text) if _most(text, _LABEL) else text


def _most(text: str, mark: re.Pattern[str]) -> bool:
    """Whether nearly every line has this mark: a program's own lines may look like it here and there."""
    lines = [line for line in text.splitlines() if line.strip() and not _SCHEDULER.match(line)]
    return len(lines) > 1 and sum(bool(mark.match(line)) for line in lines) >= _MOST * len(lines)
