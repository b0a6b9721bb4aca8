"""docs/explain.md, made from the causes by `scripts/docs`."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level
from hvdkit.explain.causes import all_causes

_HEAD = """\
# hvdkit explain --log FILE

Made from the causes by `scripts/docs`.

```console
$ horovodrun -np 2 -H localhost:2 python train.py 2>&1 | tee job.log
$ hvdkit explain --log job.log
cause: rank 1 failed at /proj/train.py:14: KeyError: 'label'  [own_error]
```

It reads the output of a failed or hanging job (`-` for stdin), puts together the lines of each rank that
horovodrun and mpirun mix, and names the cause, the line that shows it, why it happens and what fixes it. What
else is in the log comes after it: mostly what follows from the cause, such as the other ranks' `Horovod has
been shut down`. Lines that look bad and are not are listed as harmless. `--json` writes the same as JSON.

| exit code | meaning |
|---|---|
| 0 | a cause is named |
| 1 | unknown: the log does not show why a Horovod job failed; the answer says what to try next |
| 2 | there is no such file, or nothing in it |

It needs neither torch nor Horovod, starts nothing and sends nothing. What any program may say (a full disk, a
missing package, a refused ssh) counts in the output of a Horovod job alone.

A job that hangs: under `--mpi`, Horovod's stall warning names the tensor and the missing ranks after
`HOROVOD_STALL_CHECK_TIME_SECONDS` (default 60). Under `--gloo`, Horovod 0.28.1 was never seen to print one:
run with `HOROVOD_LOG_LEVEL=trace`, stop the job after a while, and explain that log.

## Causes

Each was provoked on 2 ranks, or on two hosts, and its log is in `tests/explain/logs`;
`tests/explain/provoke.py` makes them again. The excerpts are from there. Where a public report or a manual
is named, the log was rebuilt from it in other words.
"""
_GPU = """\
## Causes that need a GPU

They were never provoked here: they are known by the messages of CUDA and NCCL, and by public reports.
"""


def page() -> str:
    """The page in Markdown."""
    causes = sorted(all_causes(), key=lambda cause: (cause.level is Level.FOLLOWS, cause.id))
    parts = [_HEAD, *(_section(cause) for cause in causes if not cause.on_gpu)]
    parts += [_GPU, *(_section(cause) for cause in causes if cause.on_gpu)]
    return "\n".join(parts)


def _section(cause: Cause) -> str:
    excerpt = f"\n```text\n{cause.excerpt.rstrip()}\n```\n" if cause.excerpt else ""
    title, why, fix = map(cause.in_general, (cause.title, cause.why, cause.fix))
    source = f"\n**Reported.** <{cause.source}>\n" if cause.source else ""
    return f"### {cause.id}\n\n{title}\n{excerpt}\n**Why.** {why}\n\n**Fix.** {fix}\n{source}"
