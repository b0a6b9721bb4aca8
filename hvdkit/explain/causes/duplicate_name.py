"""Two collectives of one name at the same time."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="duplicate_name",
    title="two collectives of one name are under way at once{where}",
    why=(
        "Horovod matches tensors between ranks by name: two optimizers whose models both have a "
        "parameter `weight`, an optimizer that is wrapped twice, or a name= used again before the"
        " first call is done."
    ),
    fix=(
        "give each optimizer its own names: hvd.DistributedOptimizer(optimizer, "
        "named_parameters=[(f'G.{{n}}', p) for n, p in G.named_parameters()]); wrap each "
        "optimizer once"
    ),
    find=says(
        r"Duplicate tensor name (?P<name>\S+?)[;,.]? ",
        r"Requested to \w+[^.]*a tensor with the same name as another tensor that is"
        r" currently being\s+processed(?:.*?(?:named|name:?) (?P<name>\S+))?",
    ),
    excerpt="""\
ValueError: Requested to allreduce, allgather, or broadcast a tensor with the same name as anoth ...
""",
)
