"""One process: a stream of samples, an adversary with an optimizer of its own, a log as CSV."""

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

EPOCHS = 2


class Stream(IterableDataset):
    def __init__(self):
        self.values = torch.randn(48, 4, generator=torch.Generator().manual_seed(1)) * 0.5 + 1

    def __iter__(self):
        yield from self.values


torch.manual_seed(2)
loader = DataLoader(Stream(), batch_size=6)
maker = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4))
judge = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
make_opt = torch.optim.Adam(maker.parameters(), lr=0.01, betas=(0.5, 0.99))
judge_opt = torch.optim.Adam(judge.parameters(), lr=0.02, betas=(0.5, 0.99))
for epoch in range(EPOCHS):
    for real in loader:
        made = maker(torch.randn(len(real), 3))
        judge_opt.zero_grad()
        loss = F.softplus(-judge(real)).mean() + F.softplus(judge(made.detach())).mean()
        loss.backward()
        judge_opt.step()
        make_opt.zero_grad()
        F.softplus(-judge(made)).mean().backward()
        make_opt.step()
    fixed = torch.randn(16, 3, generator=torch.Generator().manual_seed(9))
    with torch.no_grad():
        shown = maker(fixed).mean().item()
    with Path("log.csv").open("a") as log:
        log.write(f"{epoch},{shown:.6f}\n")
    torch.save({"maker": maker.state_dict(), "judge": judge.state_dict()}, f"{epoch}.pt")
