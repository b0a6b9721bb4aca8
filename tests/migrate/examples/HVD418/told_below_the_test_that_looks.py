# Changed: Told below the test that looks, which all ranks have come past by then.

from pathlib import Path
import torch.distributed as dist
import torch.multiprocessing as mp

def worker(rank, size, folder):
    dist.init_process_group("gloo", init_method="file:///tmp/store", rank=rank, world_size=size)

def main(out, size):
    runs = [path.name for path in Path(out).iterdir()]
    if runs and args.resume:
        folder = Path(out) / runs[-1]
    else:
        folder = Path(out) / f"{len(runs):05d}"
        assert not folder.exists()
    folder.mkdir(exist_ok=True)
    mp.spawn(worker, args=(size, folder), nprocs=size)

if __name__ == "__main__":
    dist.init_process_group("gloo")
    main("out", dist.get_world_size())
