# Changed: Followed into an attribute. Only rank 0 looks at what was gathered.

import torch
import torch.distributed as dist
from mpi4py import MPI

class Means:
    def __init__(self, talk=None):
        self.talk = talk

    def collect(self, values):
        if self.talk is None:
            return values
        everyone = self.talk.gather(values)
        if self.talk.rank == 0:
            return [sum(column) / len(column) for column in zip(*everyone)]
        return None

dist.init_process_group("gloo")
means = Means(talk=MPI.COMM_WORLD)
means.collect([1.0])
