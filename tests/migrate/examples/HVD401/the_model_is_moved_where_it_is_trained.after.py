import horovod.torch as hvd
import torch

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.optimizer = hvd.DistributedOptimizer(self.optimizer, named_parameters=self.model.named_parameters())

    def train(self, loader):
        # hvdkit: TODO[HVD401] move the model before its optimizer is created
        self.model.cuda()
        for x in loader:
            self.optimizer.zero_grad()
            self.model(x).sum().backward()
            self.optimizer.step()

Trainer(torch.nn.Linear(2, 1)).train(loader)
