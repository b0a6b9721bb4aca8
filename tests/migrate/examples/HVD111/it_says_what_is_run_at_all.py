# Reported: only a process that joins trains: the setting says what is run at all

import torch.distributed as dist

training = load("config.yaml").mode == "train"
if training:
    dist.init_process_group("nccl")
print("prepared")
if training:
    model(x).sum().backward()
