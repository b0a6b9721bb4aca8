# Changed.

import torch
from tools import start

def main(options):
    torch.multiprocessing.spawn(start, (options,), options.gpus)
