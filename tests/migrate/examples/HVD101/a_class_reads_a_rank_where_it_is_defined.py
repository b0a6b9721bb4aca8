# Changed: a class's body runs where the class is defined: Horovod starts above the class, not inside it

import os
from dataclasses import dataclass
import torch.distributed as dist

@dataclass
class Settings:
    device: int = int(os.environ["LOCAL_RANK"])

def main(settings):
    dist.init_process_group("nccl")
    print(settings.device)

main(Settings())
