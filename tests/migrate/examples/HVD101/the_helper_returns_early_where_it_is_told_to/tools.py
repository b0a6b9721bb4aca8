import torch.distributed as dist

def start(wanted=True):
    if not wanted:
        return
    dist.init_process_group('gloo')
