import torch
from torch import nn
from torch.utils.data import DataLoader

loaders = {
    "train": DataLoader(train_set, batch_size=8, shuffle=True),
    "val": DataLoader(val_set, batch_size=8),
}
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loaders["train"].sampler.set_epoch(epoch)
    for i, (x, y) in enumerate(loaders["train"]):
        opt.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        opt.step()
    with torch.no_grad():
        total = sum(nn.functional.mse_loss(model(x), y) for x, y in loaders["val"])
