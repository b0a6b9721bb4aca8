"""Who ended the job from outside, and why, in the words of schedulers, Kubernetes, Docker and the kernel.

Sources: slurmstepd's messages (Slurm, src/slurmd/slurmstepd), PBS's and LSF's termination reasons (their
guides for administrators), SGE's execd, the kernel's mm/oom_kill.c, the reasons in Kubernetes' pod and job
status. Decides nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hvdkit.explain.log import Log

MEMORY, TIME, TAKEN, CANCELLED = "memory", "time", "taken", "cancelled"


@dataclass(frozen=True)
class Kill:
    """line: number of the line that says it. by: who ended it. detail: what else the line says, or "".

    more: how more of what ran out is asked for there.
    """

    line: int
    by: str
    detail: str
    more: str


@dataclass(frozen=True)
class _Words:
    """What one of them says. own: no other program writes this, so it counts without a job around it."""

    kind: str
    by: str
    more: str
    pattern: re.Pattern[str]
    own: bool = True


def _words(kind: str, by: str, more: str, *patterns: str, own: bool = True) -> tuple[_Words, ...]:
    return tuple(_Words(kind, by, more, re.compile(pattern, re.MULTILINE), own) for pattern in patterns)


# The one who knows best comes first: a scheduler names its limit, the kernel only the process.
_ALL = (
    *_words(
        MEMORY,
        "Slurm",
        "sbatch --mem=SIZE or --mem-per-cpu=SIZE",
        r"^srun: error: [^:\s]+: tasks? [\d,-]+: Out Of Memory",
        r"Detected \d+ oom[-_]kill event",
        r"[Ee]xceeded (?:job|step) memory limit|(?:[Ss]tep|[Jj]ob) [\d.]+ exceeded (?:virtual )?memory limit",
        r"\bOUT_OF_ME(?:MORY|\+)",
    ),
    *_words(
        MEMORY,
        "PBS",
        "qsub -l select=N:mem=SIZE",
        r"PBS: job killed: (?P<detail>\w*mem \S+ exceeded limit \S+)",
        r"[Cc]group mem(?:ory|sw)? limit exceeded",
    ),
    *_words(
        MEMORY,
        "LSF",
        "bsub -M SIZE -R 'rusage[mem=SIZE]'",
        r"TERM_(?:MEMLIMIT|SWAP)\b(?:: (?P<detail>[^\n.]*))?",
    ),
    *_words(MEMORY, "SGE", "qsub -l h_vmem=SIZE", r'exceeds job (?:hard|soft) limit "(?P<detail>[hs]_\w+)"'),
    *_words(
        MEMORY,
        "Kubernetes",
        "a higher resources.limits.memory of the worker's container",
        r"^[\s\"']*[Rr]eason[\"']?: *[\"']?OOMKilled",
        r"\bOOMKilled\b(?![\"']?\s*:)",
        r"The node was low on resource: memory",
        own=False,
    ),
    *_words(
        MEMORY, "Docker", "docker run --memory SIZE", r"[\"']?OOMKilled[\"']?\s*: *[\"']?true", own=False
    ),
    *_words(
        MEMORY,
        "the kernel",
        "a host or a container with more memory",
        r"Out of memory: Kill(?:ed)? process \d+",
        r"Memory cgroup out of memory: Kill(?:ed)? process \d+",
        r"oom-kill:constraint=|invoked oom-killer|oom_reaper: reaped process|Memory cgroup out of memory",
        own=False,
    ),
    *_words(
        TIME,
        "Slurm",
        "sbatch --time=D-HH:MM:SS",
        r"CANCELLED AT \S+ DUE TO TIME LIMIT",
        r"^ *State *: *TIMEOUT",
        r"^salloc: Job \d+ has exceeded its time limit",
    ),
    *_words(
        TIME,
        "PBS",
        "qsub -l walltime=HH:MM:SS",
        r"PBS: job killed: (?P<detail>(?:walltime|cput) \S+ exceeded limit \S+)",
        r"(?P<detail>[Jj]ob exceeded (?:its )?(?:walltime|wallclock) limit)",
    ),
    *_words(TIME, "LSF", "bsub -W HH:MM", r"TERM_(?:RUN|CPU)LIMIT\b(?:: (?P<detail>[^\n.]*))?"),
    *_words(TIME, "SGE", "qsub -l h_rt=HH:MM:SS", r"job \d+ exceeded (?:hard|soft) wallclock time"),
    *_words(
        TIME,
        "Kubernetes",
        "a higher activeDeadlineSeconds of the job",
        r"DeadlineExceeded\b|was active longer than specified deadline",
        own=False,
    ),
    *_words(
        TAKEN,
        "Slurm",
        "",
        r"CANCELLED AT \S+ DUE TO (?P<detail>PREEMPTION|NODE FAILURE|JOB REQUEUE)",
        r"^srun: error: (?P<detail>Node failure on \S+)",
        r"^ *State *: *(?P<detail>PREEMPTED|NODE_FAIL)",
    ),
    *_words(TAKEN, "PBS", "", r"PBS: job killed: (?P<detail>node \d+ \([^)\n]*\) requested job \w+)"),
    *_words(TAKEN, "LSF", "", r"TERM_(?P<detail>PREEMPT|ZOMBIE|REQUEUE_\w+)\b"),
    *_words(
        TAKEN,
        "Kubernetes",
        "",
        r"[Tt]he (?P<detail>node was low on resource: (?!memory)[\w-]+)",
        r"[Rr]eason[\"']?: *[\"']?(?P<detail>Evicted|Preempt\w+|NodeLost|NodeShutdown)",
        r"(?P<detail>TaintManagerEviction|Preempted by (?:pod )?\S+)",
        own=False,
    ),
    *_words(
        TAKEN,
        "the cloud",
        "",
        r"(?P<detail>Spot [Ii]nstance interruption|[Ii]nstance (?:was |is being )?preempted)",
        own=False,
    ),
    *_words(
        CANCELLED,
        "Slurm",
        "",
        r"^slurmstepd: error: \*\*\* (?P<detail>(?:STEP|JOB) \S+) ON \S+ CANCELLED AT \S+ \*\*\*",
    ),
    *_words(CANCELLED, "LSF", "", r"TERM_(?P<detail>OWNER|ADMIN|FORCE_\w+)\b"),
    *_words(CANCELLED, "PBS", "", r"(?P<detail>[Jj]ob deleted at request of \S+)"),
)


def killed_for(log: Log, kind: str) -> Kill | None:
    """What ended the job for this reason, by the one who knows best."""
    for words in _ALL:
        if words.kind != kind or not (words.own or log.is_job):
            continue
        hit = log.search(words.pattern)
        if hit is None:
            continue
        return Kill(hit.line.number, words.by, hit.groups.get("detail", ""), words.more)
    return None


_TASK = re.compile(r"^srun: error: (?P<host>[^:\s]+): tasks? (?P<task>[\d,-]+): Out Of Memory", re.MULTILINE)
_PROCESS = re.compile(r"[Oo]ut of memory: Kill(?:ed)? process (?P<pid>\d+) \((?P<name>[^)]+)\)")
_POD = re.compile(r"\b(?P<pod>[a-z0-9][\w-]*-(?:worker|launcher)-[a-z0-9]+)\b")


def victim(log: Log) -> str:
    """The task, process or pod that had no memory left, for people; "a process" where nobody says which."""
    task, process, pod = log.search(_TASK), log.search(_PROCESS), log.search(_POD)
    if task:
        return "task {task} on {host}".format(**task.groups)
    if process:
        return "process {pid} ({name})".format(**process.groups)
    return f"a process of {pod.groups['pod']}" if pod else "a process"
