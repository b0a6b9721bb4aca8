# Changed.

import itertools
import torch

class Trainer:
    def __init__(self, a, b, c):
        self.opt_g = torch.optim.Adam(a.parameters())
        self.opt_d = torch.optim.Adam(itertools.chain(b.parameters(), c.parameters()))
        a(x).sum().backward()
