import os
import torch
from torch import nn
from torch.utils.data import DataLoader

class Trainer:
    def __init__(self, data):
        number = 0
        while os.path.exists(f"run{number}"):
            number += 1
        self.folder = f"run{number}"
        os.makedirs(self.folder, exist_ok=True)
        self.model = nn.Linear(2, 1)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.loader = DataLoader(data, batch_size=8, shuffle=True)

    def train(self):
        for x, y in self.loader:
            self.opt.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.opt.step()
        torch.save(self.model.state_dict(), f"{self.folder}/last.pt")

Trainer(data).train()
