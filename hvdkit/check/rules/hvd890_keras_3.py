"""HVD890: under Keras 3 Horovod's optimizer averages nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from hvdkit.check.horovod import calls_in, mentioned
from hvdkit.check.keras import KERAS_2, keras_programs
from hvdkit.files import read_text
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.plan import Finding

# What only Keras 3 has, in the source ...
NEW = ("keras.ops.", "keras.random.", "keras.distribution.", "tensorflow.keras.ops.")
# ... and the versions that bring it, in a list of requirements.
REQUIRED = re.compile(
    r"^\s*(?:tensorflow(?:-cpu|-gpu|\[and-cuda\])?\s*(?:==|>=|~=)\s*2\.(?:1[6-9]|[2-9]\d)"
    r"|keras\s*(?:==|>=|~=)\s*3)",
    re.MULTILINE,
)
LISTS = ("requirements.txt", "requirements-gpu.txt", "environment.yml")
OURS = ("hvdkit.keras", "hvdkit.tensorflow")


def check(facts: Facts) -> Iterator[Finding]:
    for program in keras_programs(facts):
        if mentioned(program, *KERAS_2, *OURS) or not _is_keras_3(facts, program):
            continue
        for site in calls_in(facts, program, "DistributedOptimizer"):
            message = "this is Keras 3, which never calls Horovod's reduction: no gradient is averaged"
            advice = (
                "import hvdkit.keras as hvd, whose DistributedOptimizer supports Keras 3, or set "
                "TF_USE_LEGACY_KERAS=1 and install tf_keras"
            )
            yield manual("HVD890", site.names, site.node, message, advice)


def _is_keras_3(facts: Facts, program: ProgramFacts) -> bool:
    if any(site.names in program.files for site in facts.calls(*NEW)) or mentioned(program, "KERAS_BACKEND"):
        return True
    folder = program.entry.source.path.parent
    return any(_asks_for_it(where / name) for where in (folder, folder.parent) for name in LISTS)


def _asks_for_it(file: Path) -> bool:
    try:
        return bool(REQUIRED.search(read_text(file)))
    except OSError:
        return False


RULE = Rule(
    id="HVD890",
    title="Horovod's optimizer under Keras 3",
    what=(
        "model.fit runs, the loss falls, and each rank trains by itself: hvd.DistributedOptimizer is "
        "accepted and its reduction is never called."
    ),
    why="Keras 3 applies gradients through a method that Horovod 0.28, written for Keras 2, does not override.",
    safety=(
        "Nothing is edited. Reported only where Keras 3 is certain: by an API that only it has, by "
        "KERAS_BACKEND, or by a requirement of tensorflow>=2.16 or keras>=3."
    ),
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import keras

            hvd.init()
            optimizer = hvd.DistributedOptimizer(keras.optimizers.Adam())
            loss = keras.ops.mean(error)
            """,
            reason="only Keras 3 has keras.ops",
            reported=True,
        ),
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            hvd.init()
            optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.Adam())
            """,
            reason="the Keras version is unknown",
            files=(("requirements.txt", "tensorflow==2.15.1\n"),),
        ),
    ),
)
