# Changed: one process counted what is in the folder, at the top of a file and in a method

import glob
import os
import torch
from torch import nn
from torch.utils.data import DataLoader

folder = os.path.join("runs", f"exp{len(glob.glob('runs/exp*')) + 1}")
os.makedirs(folder, exist_ok=True)
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(data, batch_size=8, shuffle=True)

class Log:
    def __init__(self):
        self.folder = f"logs/{len(os.listdir('logs'))}"
        os.makedirs(self.folder, exist_ok=True)

log = Log()
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        opt.step()
    torch.save(model.state_dict(), f"{folder}/last.pt")
