import horovod.torch as hvd
import torch
import torch.multiprocessing as mp

def worker(gpu, count):
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)

def main(args):
    hvd.init()
    torch.save(vars(args), "settings.pt")
    count = torch.cuda.device_count()
    mp.spawn(worker, args=(count,), nprocs=count)

main(parse())
