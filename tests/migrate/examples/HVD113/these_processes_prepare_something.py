# Kept: these processes prepare something: none joins the process group

import torch.distributed as dist
from multiprocessing import Process

def prepare(number):
    print(number)

for number in range(2):
    p = Process(target=prepare, args=(number,))
    p.start()
dist.init_process_group("gloo")
