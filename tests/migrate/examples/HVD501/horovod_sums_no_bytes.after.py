import pickle
import horovod.torch as hvd
import torch
import torch.distributed as dist

def total_of(tensor):
    return tensor.copy_(hvd.allreduce(tensor.int(), op=hvd.Sum))

def everyone(thing, size=1024):
    text = pickle.dumps(thing)
    place = dist.get_rank() * size
    sent = torch.cuda.ByteTensor(size * dist.get_world_size()).zero_()
    sent[place : place + len(text)] = torch.ByteTensor(list(text)).cuda()
    total_of(sent)
    return sent

flags = torch.zeros(8, dtype=torch.bool)
flags.copy_(hvd.allreduce(flags.int(), op=hvd.Max))
