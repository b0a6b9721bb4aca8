# Changed: What nobody is seen to call may be called by hand, where Horovod does not run.
# Options: --suggested

import matplotlib.pyplot as plt
import torch
import torch.distributed as dist

def plot(path="losses.txt"):
    plt.plot(read(path))
    plt.savefig("losses.png")

def main():
    dist.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
    model(x).sum().backward()
    optimizer.step()

if __name__ == "__main__":
    main()
