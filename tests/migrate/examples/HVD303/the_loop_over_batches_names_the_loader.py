# Changed: The loop over batches names the loader, where that over epochs has no name for it.

from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, data, held_back):
        self.loaders = {"train": self.batches(data, True), "val": self.batches(held_back, False)}

    def batches(self, data, training):
        return DataLoader(data, batch_size=8, shuffle=training)

    def train(self):
        for epoch in range(3):
            self.train_epoch(epoch)

    def train_epoch(self, number):
        for x in self.loaders["train"]:
            self.model(x).sum().backward()
            self.optimizer.step()


Trainer(data, held_back).train()
