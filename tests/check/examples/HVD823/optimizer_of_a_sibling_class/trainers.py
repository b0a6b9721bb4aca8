import horovod.torch as hvd
import torch


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


class WithHorovod(Trainer):
    def __init__(self, model):
        super().__init__(model)
        hvd.init()
        self.optimizer = hvd.DistributedOptimizer(self.optimizer)

    def step(self, loss):
        loss.backward()
        self.optimizer.step()
