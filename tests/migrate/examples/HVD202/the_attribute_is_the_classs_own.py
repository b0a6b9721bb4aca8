# Kept: the attribute is the class's own

import torch

class Holder(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

Holder(torch.nn.Linear(2, 1)).module.weight
