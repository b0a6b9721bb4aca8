import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Config:
    def __init__(self, settings):
        self.settings = settings

    @classmethod
    def read(cls, path):
        return cls(load(path))

    def init_obj(self, name, module, *args):
        return getattr(module, self.settings[name]["type"])(*args, **self.settings[name]["args"])

def main(config):
    model = DDP(config.init_obj("arch", models))
    parameters = filter(lambda p: p.requires_grad, model.parameters())
    optimizer = config.init_obj("optimizer", torch.optim, parameters)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    scheduler = config.init_obj("lr_scheduler", torch.optim.lr_scheduler, optimizer)

main(Config.read("config.json"))
