# Kept: nothing runs the function: whoever does, by hand, has no Horovod started

import torch

def test():
    print(torch.ones(1))

loss.backward()
