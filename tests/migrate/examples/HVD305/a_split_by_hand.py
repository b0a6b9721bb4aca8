# Changed: A split by hand.
# Options: --suggested

import torch

order = torch.randperm(len(data))
train, test = data[order[:90]], data[order[90:]]
for x in torch.utils.data.DataLoader(train):
    model(x).sum().backward()
    optimizer.step()
