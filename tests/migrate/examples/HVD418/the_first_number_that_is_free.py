# Changed: one process looked for the first number that is free

import torch, copy, os, random
from torch import nn
from torch.utils.data import DataLoader, Subset, random_split
n = 0
while os.path.exists(f"runs/exp{n}"):
    n += 1
os.makedirs(f"runs/exp{n}")
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(data, batch_size=8, shuffle=True)

for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        opt.step()
    torch.save(model.state_dict(), f"runs/exp{n}/last.pt")
