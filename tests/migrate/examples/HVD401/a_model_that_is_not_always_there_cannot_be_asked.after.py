import horovod.torch as hvd
import torch

class Model:
    def __init__(self, vae):
        self.generator = torch.nn.Linear(2, 1)
        self.encoder = torch.nn.Linear(2, 2) if vae else None
        parameters = list(self.generator.parameters())
        if vae:
            parameters += list(self.encoder.parameters())
        self.optimizer = torch.optim.Adam(parameters)
        self.optimizer = hvd.DistributedOptimizer(self.optimizer)
        self.generator(x).sum().backward()
