"""Trainings with Horovod that DDP would part silently: what they become averages before each step."""

from __future__ import annotations

from tests.migrate.back_rows import Row

START = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
"""
OWN = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)

    def loss(self, x):
        return self(x).pow(2).mean()


"""


def trained(name: str, start: str, loss: str, below: str = "", extra: str = "") -> Row:
    """A training of four steps. below: what each step ends with. extra: what is left beside the model."""
    steps = f"for x in torch.randn(4, 6, 4):\n    optimizer.zero_grad()\n    {loss}\n    optimizer.step()\n"
    return Row(name, f"{start}{steps}{below}leave({name!r}, *model.state_dict().values(){extra})\n")


ROWS = (
    trained("own_method", f"{OWN}model = Net()\n{START}", "model.loss(x).backward()"),
    trained(
        "helper_calls_method",
        f"{OWN}def loss_of(net, x):\n    return net.loss(x)\n\n\nmodel = Net()\n{START}",
        "loss_of(model, x).backward()",
    ),
    trained(
        "alias_from_before", f"model = net()\nother = model\n{START}", "other(x).pow(2).mean().backward()"
    ),
    trained("part_of_the_model", f"model = net()\n{START}", "model[0](x).pow(2).mean().backward()"),
    trained(
        "module_around",
        f"""
class Task(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x).pow(2).mean()


model = net()
task = Task(model)
{START}""",
        "task(x).backward()",
    ),
    trained(
        "function_that_wraps",
        """
def start(module, optimizer):
    hvd.broadcast_parameters(module.state_dict(), root_rank=0)
    return hvd.DistributedOptimizer(optimizer, named_parameters=module.named_parameters())


model = net()
optimizer = start(model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9))
""",
        "model(x).pow(2).mean().backward()",
    ),
    trained(
        "parameter_outside",
        """
model, scale = net(), torch.nn.Parameter(torch.ones(1))
optimizer = torch.optim.Adam([*model.parameters(), scale], lr=0.05)
optimizer = hvd.DistributedOptimizer(optimizer)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
""",
        "(model(x) * scale).pow(2).mean().backward()",
        extra=", scale",
    ),
    trained(
        "two_backwards",
        f"model = net()\n{START.replace('named_p', 'backward_passes_per_step=2, named_p', 1)}",
        "out = model(x)\n    out.sum().backward(retain_graph=True)\n    out.mean().backward()",
    ),
    trained(
        "frozen_while_training",
        f"model = net()\n{START}",
        "model(x).pow(2).mean().backward()",
        below="    model[0].requires_grad_(False)\n",
    ),
    trained("moved_below", f"model = net()\n{START}model.to('cpu')\n", "model(x).pow(2).mean().backward()"),
    trained(
        "in_data_parallel", f"model = torch.nn.DataParallel(net())\n{START}", "model(x).mean().backward()"
    ),
    trained(
        "clipped_by_a_part",
        f"model = net()\n{START}",
        "model[0](x).pow(2).mean().backward()\n"
        "    optimizer.synchronize()\n"
        "    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)\n"
        "    with optimizer.skip_synchronize():\n"
        "        optimizer.step()\n"
        "    optimizer.zero_grad()\n"
        "    model(x).pow(2).mean().backward()",
    ),
    trained(
        "half_of_a_part",
        f"model = net()\n{START.replace('named_p', 'compression=hvd.Compression.fp16, named_p', 1)}",
        "model[0](x).pow(2).mean().backward()",
    )._replace(tolerance=1e-5),
    trained(
        "group_added",
        f"model, scale = net(), torch.nn.Parameter(torch.ones(1))\n{START}"
        'optimizer.add_param_group({"params": [scale]})\n',
        "(model(x) * scale).pow(2).mean().backward()",
        extra=", scale",
    )._replace(parts=True),
    trained(
        "unfrozen_while_training",
        f"model = net()\nmodel[0].requires_grad_(False)\n{START}",
        "model(x).pow(2).mean().backward()",
        below="    model[0].requires_grad_(True)\n",
    )._replace(parts=True),
)
