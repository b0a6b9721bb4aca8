# Changed: Horovod sums no bytes: an object in them goes as integers, and comes back as bytes.

import pickle
import torch
import torch.distributed as dist

def total_of(tensor):
    return dist.all_reduce(tensor)

def everyone(thing, size=1024):
    text = pickle.dumps(thing)
    place = dist.get_rank() * size
    sent = torch.cuda.ByteTensor(size * dist.get_world_size()).zero_()
    sent[place : place + len(text)] = torch.ByteTensor(list(text)).cuda()
    total_of(sent)
    return sent

flags = torch.zeros(8, dtype=torch.bool)
dist.all_reduce(flags, op=dist.ReduceOp.MAX)
