"""Lightning no longer has a Horovod strategy."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="lightning_strategy",
    title="this Lightning has no Horovod strategy{where}",
    why="Lightning deprecated its Horovod strategy in 1.9 and removed it in 2.0.",
    fix=(
        'Trainer(strategy="ddp") and start it with torchrun (hvdkit run --torch -np N python '
        'train.py); or stay on pytorch-lightning<2 with strategy="horovod"'
    ),
    find=says(
        r"selected an invalid strategy name: `strategy=['\x22]horovod['\x22]`",
        r"Unknown (?:strategy|distributed_backend|accelerator)[^\n]*\bhorovod\b",
        r"cannot import name 'HorovodStrategy'",
        in_job=True,
    ),
    excerpt="""\
ValueError: You selected an invalid strategy name: `strategy='horovod'`. It must be either a str ...
""",
    level=Level.OWN,
    source="https://github.com/Lightning-AI/pytorch-lightning/pull/16150",
)
