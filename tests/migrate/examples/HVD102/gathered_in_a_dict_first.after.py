import os
import horovod.torch as hvd
import torch.distributed as dist

def main():
    launched = {
        "MASTER_ADDR": os.environ.get("MASTER_ADDR", "127.0.0.1"),
        "MASTER_PORT": os.environ.get("MASTER_PORT", "29500"),
        "RANK": str(hvd.rank()),
        "WORLD_SIZE": str(hvd.size()),
        "RUN": os.environ["RUN"],
    }
    print(f"started with {launched}")
    dist.init_process_group("gloo")
    return hvd.rank()
