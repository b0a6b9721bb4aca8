# Reported: a configuration names the class that makes the process group: what runs it is not seen

import torch
from hydra.utils import instantiate
from trainer import KEY

def worker(gpu, config):
    print(KEY)
    instantiate(config.trainer).run()

torch.multiprocessing.spawn(worker, args=(config,), nprocs=2)
