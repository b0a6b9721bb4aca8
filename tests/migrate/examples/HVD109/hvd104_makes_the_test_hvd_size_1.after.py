import os
import subprocess
import torch.distributed as dist

def setup(args):
    if "SLURM_PROCID" in os.environ:
        args.rank = int(os.environ["SLURM_PROCID"])
        hosts = os.environ.get("SLURM_NODELIST", "127.0.0.1")
        address = subprocess.getoutput(f"scontrol show hostname {hosts} | head -n1")
    elif "RANK" in os.environ:
        args.rank = int(os.environ["RANK"])
    dist.init_process_group("nccl", rank=args.rank)
