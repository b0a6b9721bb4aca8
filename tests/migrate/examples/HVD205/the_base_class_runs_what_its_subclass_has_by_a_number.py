# Reported: the base class runs what its subclass has by a number that the options hold, which may be a rank

import torch
import torch.distributed as dist
from library import registry
from torchvision.models import resnet18
from torch.nn.parallel import DistributedDataParallel as DDP

class Solver:
    def __init__(self, options):
        self.options = options
        self.net = DDP(resnet18())

    def validate(self):
        if self.options["rank"] == 0:
            self.test()

@registry.register()
class Special(Solver):
    def __init__(self, options):
        super().__init__(options)

    def test(self):
        self.net.eval()

default = Solver(library.read())
options = library.read()
options["rank"] = dist.get_rank()
registry.get(options["kind"])(options).validate()
loss.backward()
