"""Mistakes that people and codemods make when they take a script to Horovod: each wherever it fits."""

from __future__ import annotations

from dataclasses import dataclass

from mutation.sites import (
    accumulated,
    argument,
    average_of_weights,
    backward,
    clip_before,
    clip_more,
    dropped,
    epoch_saved,
    epochs,
    evaluates_share,
    first_argument,
    guard,
    key_lost,
    loss_not_divided,
    more,
    never_saved,
    no_sampler,
    not_wrapped,
    on_rank_0,
    slices,
    statistics,
    stops_later,
    written_as,
)
from mutation.source import Sites

OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop")
SCHEDULERS = ("StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "OneCycleLR", "LambdaLR")


@dataclass(frozen=True)
class Mistake:
    """named: what the reason that verify gives must match, unless it gives the line."""

    name: str
    what: str
    named: str
    sites: Sites


AVERAGED = "average|sum|scale|allreduce|reduc"
SHARED = "sampl|share|shard|batch"
RATE = "rate|schedule"
WRITTEN = "writ|wrote|saved|file|not in it|printed|HVD60|content"
NUMBER = "metric|evaluat|printed|number|decision|reduc|content|ReduceLROnPlateau|HVD870|HVD50"

MISTAKES = (
    Mistake("sum", "gradients are summed", AVERAGED, more(("DistributedOptimizer",), "op", "op=hvd.Sum")),
    Mistake("loss-by-size", "the loss is divided by the ranks as well", "twice|divided", backward),
    Mistake("not-wrapped", "the optimizer is not Horovod's", "wrap|average", not_wrapped),
    Mistake("no-broadcast", "weights are not sent", "broadcast", dropped("broadcast_parameters")),
    Mistake(
        "buffers-not-sent",
        "parameters are sent and buffers are not",
        "broadcast|buffer",
        written_as(("model.state_dict()", "model.named_parameters()"), inside=("broadcast_parameters",)),
    ),
    Mistake(
        "decay-by-size",
        "weight decay times the number of ranks",
        "setting|weight.decay",
        argument(OPTIMIZERS, "weight_decay", "($) * hvd.size()"),
    ),
    Mistake(
        "decay-added",
        "weight decay that the original has not",
        "setting|weight.decay",
        more(OPTIMIZERS, "weight_decay", "weight_decay=0.01"),
    ),
    Mistake(
        "momentum-by-size",
        "momentum divided by the number of ranks",
        "setting|momentum",
        argument(OPTIMIZERS, "momentum", "($) / hvd.size()"),
    ),
    Mistake(
        "rate-by-square",
        "the rate is scaled twice",
        RATE,
        argument(OPTIMIZERS, "lr", "($) * hvd.size() ** 2"),
    ),
    Mistake(
        "rate-of-rank-0",
        "rank 0 alone scales its rate",
        RATE,
        argument(OPTIMIZERS, "lr", "($) * (hvd.size() if hvd.rank() == 0 else 1)"),
    ),
    Mistake(
        "gamma-by-size",
        "a schedule's factor is taken to the power of the ranks",
        RATE,
        argument(SCHEDULERS, "gamma", "($) ** hvd.size()"),
    ),
    Mistake(
        "schedule-by-size",
        "a schedule's length is multiplied",
        RATE,
        argument(SCHEDULERS, "step_size", "($) * hvd.size()"),
    ),
    Mistake(
        "cycle-by-size",
        "a cycle is as long as all ranks' steps together",
        RATE,
        argument(SCHEDULERS, "total_steps", "($) * hvd.size()"),
    ),
    Mistake(
        "schedule-on-rank-0", "rank 0 alone steps the scheduler", RATE, on_rank_0("step", within="sched")
    ),
    Mistake("epochs-by-size", "the number of epochs is divided", "steps|epoch", epochs),
    Mistake("epoch-saved", "the checkpoint has another epoch", WRITTEN, epoch_saved),
    Mistake("key-lost", "the checkpoint lacks something", WRITTEN, key_lost),
    Mistake("never-saved", "no rank writes the file", WRITTEN, never_saved),
    Mistake("written-by-none", "the guard is never true", WRITTEN, guard("hvd.rank() == hvd.size()")),
    Mistake("written-by-all", "the guard is gone", WRITTEN, guard("True")),
    Mistake(
        "written-by-hosts",
        "the guard asks for the local rank",
        WRITTEN + "|local",
        guard("hvd.local_rank() == 0"),
    ),
    Mistake(
        "metric-op",
        "a sum is taken for an average, or an average for a sum",
        NUMBER,
        written_as(
            ("hvd.Sum", "hvd.Average"),
            ("hvd.Average", "hvd.Sum"),
            ("hvd.Max", "hvd.Sum"),
            inside=("allreduce", "allreduce_"),
        ),
    ),
    Mistake("metric-own", "a metric is each rank's own", NUMBER, first_argument("$", "allreduce")),
    Mistake(
        "metric-sent",
        "rank 0 sends its metric instead of reducing it",
        NUMBER,
        first_argument("hvd.broadcast($, root_rank=0)", "allreduce"),
    ),
    Mistake(
        "own-decision",
        "each rank decides by what it has found itself",
        NUMBER + "|steps|end",
        first_argument("$", "broadcast_object"),
    ),
    Mistake("evaluates-share", "an evaluation is shared out and not reduced", NUMBER, evaluates_share),
    Mistake(
        "share-total",
        "a metric is divided by the share's size",
        NUMBER,
        written_as(
            ("len(loader.dataset)", "len(loader.sampler)"),
            ("len(val_loader.dataset)", "len(val_loader.sampler)"),
        ),
    ),
    Mistake("no-sampler", "every rank trains on all samples", SHARED, no_sampler),
    Mistake(
        "sampler-rank",
        "every rank has the first one's share",
        SHARED,
        argument(("DistributedSampler",), "rank", "0"),
    ),
    Mistake(
        "sampler-local-rank",
        "the sampler is given the local rank",
        SHARED + "|local",
        argument(("DistributedSampler",), "rank", "hvd.local_rank()"),
    ),
    Mistake(
        "sampler-half",
        "half of the samples are never drawn",
        SHARED + "|left out",
        argument(("DistributedSampler",), "num_replicas", "2 * ($)"),
    ),
    Mistake(
        "sampler-seed",
        "each rank shuffles by a seed of its own",
        SHARED,
        more(("DistributedSampler",), "seed", "seed=hvd.rank()"),
    ),
    Mistake(
        "unshuffled",
        "the sampler no longer shuffles",
        "shuffle|order|" + SHARED,
        more(("DistributedSampler",), "shuffle", "shuffle=False"),
    ),
    Mistake("no-set-epoch", "every epoch has the order of the first", "epoch|order", dropped("set_epoch")),
    Mistake(
        "constant-epoch",
        "set_epoch is given one number",
        "epoch|order",
        written_as(("epoch", "0"), ("self.epoch", "0"), inside=("set_epoch",)),
    ),
    Mistake(
        "clip-before-average",
        "gradients are clipped while they are reduced",
        "clip|synchronize",
        clip_before,
    ),
    Mistake("clip-by-size", "gradients are clipped to less", "clip|gradient", clip_more),
    Mistake("accumulates-more", "more batches are accumulated", "step|gradient", accumulated),
    Mistake(
        "accumulated-not-divided",
        "the accumulated loss is not divided",
        "gradient|loss|divi",
        loss_not_divided,
    ),
    Mistake("not-cleared", "gradients are not cleared", "gradient|loss|clear", dropped("zero_grad")),
    Mistake("stops-later", "patience is multiplied by the ranks", "step|epoch|end", stops_later),
    Mistake(
        "average-of-weights",
        "a running average has another decay, or none",
        "untrained|average|module|content",
        average_of_weights,
    ),
    Mistake("half-the-share", "a slice skips half of it, or has all ranks begin alike", SHARED, slices),
    Mistake(
        "own-statistics",
        "what is counted in all data is counted in the share",
        "statistic|loss|setting|buffer|same|sampl|normalis",
        statistics,
    ),
)
