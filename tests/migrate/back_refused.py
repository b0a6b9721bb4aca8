"""Programs that cannot come back to DDP: those with what torch.distributed has not."""

from __future__ import annotations

TRAINS = """\
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
"""
# Each is refused at the line that ends with `# here`.
REFUSED = {
    "ranks that Spark starts": (
        "HVD009",
        "from sparkdl import HorovodRunner\nHorovodRunner(np=2).run(print)  # here\n",
    ),
    "Adasum": (
        "HVD003",
        TRAINS.replace("named_parameters=", "op=hvd.Adasum,  # here\n    named_parameters="),
    ),
    "sparse gradients": ("HVD003", TRAINS.replace("(optimizer, n", "(optimizer, sparse_as_dense=True, n")),
    "a compression of its own": (
        "HVD003",
        TRAINS.replace("(optimizer, n", "(optimizer, compression=mine, n") + "mine = object()\n",
    ),
    "join": ("HVD009", "hvd.join()  # here\n"),
    "a process set": ("HVD009", "hvd.add_process_set([0, 1])  # here\n"),
    "elastic": ("HVD009", "state = hvd.elastic.TorchState(epoch=0)  # here\n"),
    "mpi4py": ("HVD009", "from mpi4py import MPI  # here\nprint(MPI.COMM_WORLD.Get_rank())\n"),
    "ranks of its own": ("HVD001", "hvd.init([0])  # here\n"),
}
