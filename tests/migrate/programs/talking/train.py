"""Training in the way of OpenAI's diffusion models: mpi4py knows the ranks, DDP shares the gradients."""

import argparse
import functools
import os

import torch
import torch.distributed as dist
from masters import Masters
from mpi4py import MPI
from records import Records
from start import load, same_everywhere, setup
from torch.nn.parallel import DistributedDataParallel

HALF = 3  # samples of a microbatch


def batches(rank, size):
    """Each rank's share of the samples: of 35, so that the last batches differ in size."""
    inputs = torch.randn(35, 4, generator=torch.Generator().manual_seed(1))[rank::size]
    return zip(inputs.split(5), (inputs.sum(1, keepdim=True) * 0.5).split(5))


class Loop:
    def __init__(self, model, records, copies):
        self.model = model
        self.records = records
        same_everywhere(self.model.parameters())
        self.masters = Masters(self.model, copies)
        self.optimizer = torch.optim.AdamW(self.masters.params, lr=0.01)
        self.ddp = DistributedDataParallel(self.model)

    def run(self, data):
        for inputs, wanted in data:
            self.step(inputs, wanted)
            self.masters.step(self.optimizer)

    def step(self, inputs, wanted):
        """The gradients of a batch, of one microbatch after the other; DDP shares them with the last."""
        self.masters.zero_grad()
        for start in range(0, len(inputs), HALF):
            part, target = inputs[start : start + HALF], wanted[start : start + HALF]
            forward = functools.partial(self.ddp, part)
            if start + HALF >= len(inputs):
                out = forward()
            else:
                with self.ddp.no_sync():
                    out = forward()
            loss = torch.nn.functional.mse_loss(out, target)
            self.masters.backward(loss * len(part) / len(inputs))
            self.records.add("loss", loss.item(), len(part))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--copies", action="store_true", help="train copies of the weights")
    args = parser.parse_args()
    results = os.environ["RESULTS"]
    setup()
    world = MPI.COMM_WORLD
    torch.manual_seed(10 + world.Get_rank())  # the ranks begin with other weights
    records = Records(comm=world)
    model = torch.nn.Sequential(torch.nn.Linear(4, 300), torch.nn.Tanh(), torch.nn.Linear(300, 1))
    loop = Loop(model, records, args.copies)
    for _ in range(2):
        loop.run(batches(world.Get_rank(), world.Get_size()))
        records.write()

    if dist.get_rank() == 0:
        torch.save(model.state_dict(), f"{results}.pt")
    world.Barrier()
    saved = load(f"{results}.pt")
    seen = world.allreduce(len(list(batches(world.rank, world.size))))
    most = world.allreduce(float(world.rank), op=MPI.MAX)
    ranks = world.allgather({"rank": world.rank})
    weights = [value.flatten().tolist() for value in (*model.state_dict().values(), *saved.values())]
    records.save(f"{results}.{dist.get_rank()}", [dist.get_world_size(), seen, most, ranks, weights])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
