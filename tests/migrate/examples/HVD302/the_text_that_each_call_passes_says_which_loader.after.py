import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run(self, phase, batches):
        for x in batches:
            loss = self.model(x).sum()
            if phase == "train":
                loss.backward()
                self.optimizer.step()

    def train(self, batches):
        self.run("train", batches)

    def test(self, batches):
        self.run("test", batches)

trainer = Trainer(torch.nn.Linear(2, 1))
train_loader, test_loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)), DataLoader(rest, shuffle=True)
for epoch in range(3):
    trainer.train(train_loader)
    trainer.test(test_loader)
