# Changed: A data set without a name gets one, since loader and sampler both need it.

import torch

class Trainer:
    def __init__(self):
        self.loader = torch.utils.data.DataLoader(Digits("data"), batch_size=8, shuffle=self.train)

    def batches(self):
        for x in self.loader:
            yield x

    def fit(self):
        for i, x in enumerate(self.batches()):
            model(x).sum().backward()
            optimizer.step()

Trainer().fit()
