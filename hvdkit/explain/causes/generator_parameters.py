"""broadcast_parameters() was given a generator."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="generator_parameters",
    title="broadcast_parameters() was given a generator{where}",
    why=(
        "It takes a dict or a list of pairs; model.parameters() and model.named_parameters() are generators."
    ),
    fix="hvd.broadcast_parameters(model.state_dict(), root_rank=0)",
    find=says(
        r"ValueError: invalid params of type: <class 'generator'>",
    ),
    excerpt="""\
ValueError: invalid params of type: <class 'generator'>
""",
)
