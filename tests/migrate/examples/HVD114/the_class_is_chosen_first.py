# Reported: the class is chosen first

import submitit
import torch.distributed as dist

def main():
    dist.init_process_group("nccl")

def launch(slurm):
    executor = submitit.AutoExecutor if slurm else submitit.LocalExecutor
    executor = executor(folder="jobs")
    executor.submit(main)
