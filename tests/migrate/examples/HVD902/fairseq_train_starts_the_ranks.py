# Reported: fairseq-train starts the ranks, and calls this

import os
import torch
from fairseq.tasks import FairseqTask, register_task

@register_task("reading")
class Reading(FairseqTask):
    def __init__(self, args):
        if os.environ.get("LOCAL_RANK", "0") != "0":
            torch.distributed.barrier()
