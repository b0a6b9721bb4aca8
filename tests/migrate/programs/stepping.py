"""Steps by hand, of a model and of a tensor, at a rate that a loss lowers; a digest of the weights."""

import hashlib
import os
from pathlib import Path

import torch

if __name__ == "__main__":
    torch.manual_seed(3)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    scale = torch.ones(1, requires_grad=True)
    rate, best = 0.5, None
    for _ in range(6):
        for _ in range(3):
            x = torch.randn(16, 4)
            loss = ((net(x) * scale - x.sum(1, keepdim=True)) ** 2).mean()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            for p in net.parameters():
                p.data.add_(p.grad, alpha=-rate)
            with torch.no_grad():
                scale -= rate * scale.grad
                scale.grad.zero_()
            net.zero_grad()
        last = loss.item()
        if best is None or last < best:
            best = last
        else:
            rate /= 2.0
    digest = hashlib.sha256(str(rate).encode())
    for p in (*net.parameters(), scale):
        digest.update(p.detach().numpy().tobytes())
    Path(os.environ["RESULTS"], f"{os.getpid()}.txt").write_text(digest.hexdigest())
