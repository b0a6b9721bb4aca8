import torch.distributed as dist
import tools

dist.init_process_group()
