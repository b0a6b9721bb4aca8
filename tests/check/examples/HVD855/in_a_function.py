# Kept: the function is called under the guard

import multiprocessing

import horovod.torch as hvd
from torch.utils.data import DataLoader


def main():
    hvd.init()
    multiprocessing.set_start_method("spawn")
    loader = DataLoader(data, num_workers=2)


if __name__ == "__main__":
    main()
