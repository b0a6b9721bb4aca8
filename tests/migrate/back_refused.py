"""Programs that cannot come back to DDP: those that would part silently, and those with what it has not."""

from __future__ import annotations

TRAINS = """\
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
"""
# What DDP would part silently, or has not: each is refused at the line that ends with `# here`.
REFUSED = {
    "two backward passes of one forward": (
        "HVD005",
        TRAINS
        + """\
for x in torch.ones(3, 4, 4):
    out = model(x)
    out.sum().backward(retain_graph=True)  # here
    out.mean().backward()
    optimizer.step()
""",
    ),
    "a method of the model trains": (
        "HVD005",
        """\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)

    def loss(self, x):
        return self(x).sum()


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
for x in torch.ones(3, 4, 4):
    model.loss(x).backward()  # here
    optimizer.step()
""",
    ),
    "an alias from before the wrap trains": (
        "HVD005",
        TRAINS.replace("hvd.broadcast_p", "net = model\nhvd.broadcast_p")
        + """\
for x in torch.ones(3, 4, 4):
    net(x).sum().backward()  # here
    optimizer.step()
""",
    ),
    "a module around it, from before the wrap, trains": (
        "HVD005",
        """\
class Task(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x).sum()  # here


model = torch.nn.Linear(4, 2)
task = Task(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
for x in torch.ones(3, 4, 4):
    task(x).backward()
    optimizer.step()
""",
    ),
    "a helper calls the method that trains": (
        "HVD005",
        """\
class Net(torch.nn.Linear):
    def loss(self, x):
        return self(x).sum()


def loss_of(net, x):
    return net.loss(x)  # here


model = Net(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
for x in torch.ones(3, 4, 4):
    loss_of(model, x).backward()
    optimizer.step()
""",
    ),
    "a part of the model trains": (
        "HVD005",
        TRAINS
        + """\
for x in torch.ones(3, 4, 4):
    model[0](x).sum().backward()  # here
    optimizer.step()
""",
    ),
    "a function that wraps its own variable": (
        "HVD005",
        """\
def start(net, optimizer):
    hvd.broadcast_parameters(net.state_dict(), root_rank=0)
    return hvd.DistributedOptimizer(optimizer, named_parameters=net.named_parameters())


model = torch.nn.Linear(4, 2)
optimizer = start(model, torch.optim.SGD(model.parameters(), lr=0.1))
for x in torch.ones(3, 4, 4):
    model(x).sum().backward()  # here
    optimizer.step()
""",
    ),
    "groups that are added to the optimizer": (
        "HVD003",
        """\
model, scale = torch.nn.Linear(4, 2), torch.nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer.add_param_group({"params": [scale]})  # here
for x in torch.ones(3, 4, 4):
    (model(x) * scale).sum().backward()
    optimizer.step()
""",
    ),
    "a parameter outside of the model": (
        "HVD003",
        """\
model = torch.nn.Linear(4, 2)
scale = torch.nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([*model.parameters(), scale], lr=0.1)  # here
optimizer = hvd.DistributedOptimizer(optimizer)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
for x in torch.ones(3, 4, 4):
    (model(x) * scale).sum().backward()
    optimizer.step()
""",
    ),
    "a part is unfrozen while it trains": (
        "HVD005",
        TRAINS.replace("optimizer = torch", "model[0].requires_grad_(False)\noptimizer = torch")
        + """\
for x in torch.ones(3, 4, 4):
    model(x).sum().backward()
    optimizer.step()
    model[0].requires_grad_(True)  # here
""",
    ),
    "the model is moved below": (
        "HVD003",
        TRAINS
        + """\
model.cuda()  # here
for x in torch.ones(3, 4, 4):
    model(x).sum().backward()
    optimizer.step()
""",
    ),
    "DataParallel": (
        "HVD003",
        TRAINS.replace("hvd.broadcast_p", "model = torch.nn.DataParallel(model)\nhvd.broadcast_p"),
    ),
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
    "an asynchronous collective": ("HVD009", "hvd.allreduce_async_(torch.ones(1))  # here\n"),
    "a process set": ("HVD009", "hvd.add_process_set([0, 1])  # here\n"),
    "elastic": ("HVD009", "state = hvd.elastic.TorchState(epoch=0)  # here\n"),
    "mpi4py": ("HVD009", "from mpi4py import MPI  # here\nprint(MPI.COMM_WORLD.Get_rank())\n"),
    "ranks of its own": ("HVD001", "hvd.init([0])  # here\n"),
}
