# Kept: what nobody calls is called by hand, if at all, where there are no ranks
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
