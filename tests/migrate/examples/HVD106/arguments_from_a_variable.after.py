import horovod.torch as hvd
import torch.distributed as dist

def worker(rank, size, port):
    dist.init_process_group("gloo", init_method=f"tcp://localhost:{port}", rank=rank, world_size=size)

if __name__ == "__main__":
    arguments = (4, 29500)
    worker(hvd.local_rank(), *arguments)
