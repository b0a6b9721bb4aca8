import torch.distributed as dist

def start(gpu, options):
    dist.init_process_group('gloo', rank=gpu, world_size=options.gpus)
