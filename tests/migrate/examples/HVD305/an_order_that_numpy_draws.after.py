import numpy as np
import torch

order = np.random.RandomState(0).permutation(100)
train, test = data[order[:90]], data[order[90:]]
for epoch in range(3):
    mixed = torch.randperm(90)
    for i in range(0, 90, 10):
        model(train[mixed[i:i + 10]]).sum().backward()
        optimizer.step()
