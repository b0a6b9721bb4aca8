# Changed: Whoever imports the file starts no job; what the guard imports comes too late.

import warnings

warnings.filterwarnings("ignore")

if __name__ == "__main__":
    import torch

    torch.ones(1, requires_grad=True).backward()
    optimizer.step()
