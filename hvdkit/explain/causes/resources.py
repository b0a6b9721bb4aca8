"""An elastic or a Spark job does not get enough slots."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="resources",
    title="there were not enough slots for {least} ranks before the timeout",
    why=(
        "An elastic job waits --elastic-timeout seconds (600) until the discovery script offers "
        "--min-np slots; horovod.spark.run waits start_timeout seconds until Spark runs one task per "
        "rank. The hosts, pods or executors did not come, or have fewer slots. The message may hold "
        "the word activity in braces: a slip in Horovod's own text."
    ),
    fix=(
        "run the discovery script by hand: it must print HOST:SLOTS lines that add up to --min-np "
        "(hosts that failed are excluded); under Spark compare num_proc with executors x cores / "
        "spark.task.cpus; raise --elastic-timeout or start_timeout where hosts start slowly"
    ),
    find=says(
        r"Timed out waiting for [^\n]{1,80}?\. Please check that you have enough resources "
        r"to run (?P<least>all|at least \d+) Horovod",
    ),
    excerpt="""\
Exception: Timed out waiting for command to run. Please check that you have enough resources to r ...
""",
    general={"least": "N"},
    source="https://github.com/kubeflow/spark-operator/issues/456",
)
