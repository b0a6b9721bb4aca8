import torch

order = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))
train, test = data[order[:90]], data[order[90:]]
for x in torch.utils.data.DataLoader(train):
    model(x).sum().backward()
    optimizer.step()
