"""Horovod's Keras classes under Keras 3."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

# A traceback that ends in Horovod's files for Keras and TensorFlow, in something that Keras 2 had.
_IN_HOROVOD = r'/horovod/(?:_keras|keras|tensorflow)/[^"\n]*", line \d+[^\n]*\n(?:[ ][^\n]*\n|\n)*? *'

CAUSE = Cause(
    id="keras_3",
    title="Horovod's classes for Keras do not know Keras 3{where}: {error}",
    why=(
        "Horovod 0.28.1 uses variables, optimizers and backend functions of Keras 2, which TensorFlow 2.16"
        " and later no longer bring. Where nothing fails it is worse: hvd.DistributedOptimizer averages no"
        " gradient in fit()."
    ),
    fix=(
        "import hvdkit.tensorflow.keras as hvd, which knows Keras 3; or python -m pip install tf_keras, and"
        " TF_USE_LEGACY_KERAS=1 on all ranks"
    ),
    find=says(
        _IN_HOROVOD + r"(?:Attribute|Type)Error: (?P<error>'Variable' object has no attribute 'ref'"
        r"|module 'keras\.backend' has no attribute '\w+'"
        r"|'SymbolicTensor' object has no attribute '\w+'"
        r"|'list' object is not callable)",
    ),
    excerpt="""\
AttributeError: 'Variable' object has no attribute 'ref'
""",
    general={"error": "an attribute that is missing"},
)
