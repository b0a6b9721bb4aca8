import horovod.torch as hvd
import torch
import torch.distributed as dist

def worker(gpu, path):
    dist.init_process_group("gloo")
    torch.save(train(gpu), path)

def test(path):
    print(torch.load(path))

if __name__ == "__main__":
    worker(hvd.local_rank(), "best.pt")
    # hvdkit: TODO[HVD106] put it under `if hvd.local_rank() == 0:`, with hvd.barrier() above, and hvd.shutdown(), where the worker calls it, below
    test("best.pt")
