import torch
from tqdm import tqdm


def batches(seed):
    generator = torch.Generator().manual_seed(seed)
    for _ in tqdm(range(4), disable=True):
        x = torch.randn(8, 4, generator=generator)
        yield x, x.sum(1, keepdim=True)
