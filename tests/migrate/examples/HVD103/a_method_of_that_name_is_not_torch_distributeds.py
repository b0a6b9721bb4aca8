# Kept: a method of that name is not torch.distributed's

import torch

class Ranks:
    def get_rank(self):
        return 0

Ranks().get_rank()
