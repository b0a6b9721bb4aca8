# Reported: the way to start is set for all

import multiprocessing

import horovod.torch as hvd
from torch.utils.data import DataLoader


def main():
    hvd.init()
    multiprocessing.set_start_method("spawn", force=True)
    loader = DataLoader(data, batch_size=8, num_workers=args.workers)


main()
