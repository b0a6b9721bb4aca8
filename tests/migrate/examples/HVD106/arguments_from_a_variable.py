# Changed: Arguments from a variable.

import torch.distributed as dist
import torch.multiprocessing as mp

def worker(rank, size, port):
    dist.init_process_group("gloo", init_method=f"tcp://localhost:{port}", rank=rank, world_size=size)

if __name__ == "__main__":
    arguments = (4, 29500)
    mp.spawn(worker, arguments, 4)
