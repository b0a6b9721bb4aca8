import horovod.torch as hvd
import torch
import torch.distributed as dist

class Means:
    def __init__(self, talk=None):
        self.talk = talk

    def collect(self, values):
        if self.talk is None:
            return values
        everyone = hvd.allgather_object(values, name="gather")
        if hvd.rank() == 0:
            return [sum(column) / len(column) for column in zip(*everyone)]
        return None

dist.init_process_group("gloo")
means = Means(talk=hvd.global_process_set)
means.collect([1.0])
