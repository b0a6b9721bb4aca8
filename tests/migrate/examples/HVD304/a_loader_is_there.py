# Reported: a loader is there, which the function that the loop calls may draw from: that one is named

import torch
from torch.utils.data import DataLoader

class Balanced:
    def __init__(self, sets):
        self.batches = [iter(DataLoader(one, batch_size=4, shuffle=True)) for one in sets]

    def get_batch(self):
        return torch.cat([next(batches) for batches in self.batches])

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
balanced = Balanced(sets)
while True:
    model(balanced.get_batch()).sum().backward()
    optimizer.step()
