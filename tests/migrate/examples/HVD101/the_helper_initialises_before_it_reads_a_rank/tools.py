import os
import torch.distributed as dist

def start():
    if 'RANK' in os.environ:
        rank = int(os.environ['RANK'])
    else:
        return
    dist.init_process_group('gloo')
