"""Functions that are written into a file: what Horovod's collectives mean, on torch.distributed."""

from __future__ import annotations

import ast
import re

from hvdkit.migrate import edits
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

# By the name that each gets in the file.
HELPERS = {
    "start_ranks": '''\
def start_ranks():
    """Join the process group of torchrun; without a launcher, one of this process alone."""
    if dist.is_initialized():
        return
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    if "RANK" in os.environ:
        dist.init_process_group(backend)
        return
    for name in ("HOROVOD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"):
        if int(os.environ.get(name, 1)) > 1:
            raise RuntimeError(f"{name} is set, and RANK is not: start this script by torchrun")
    dist.init_process_group(backend, rank=0, world_size=1, store=dist.HashStore())
''',
    "allreduce": '''\
class SumOverRanks(torch.autograd.Function):
    """The sum over all ranks in a new tensor; gradients are summed, too."""

    @staticmethod
    def forward(ctx, tensor, op):
        total = tensor.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, op)
        return total

    @staticmethod
    def backward(ctx, gradient):
        return SumOverRanks.apply(gradient, dist.ReduceOp.SUM), None


def allreduce(tensor, op=None):
    """The mean over all ranks in a new tensor, truncated for integers; op: a different reduction."""
    total = SumOverRanks.apply(tensor, op or dist.ReduceOp.SUM)
    if op is not None:
        return total
    integers = not (total.is_floating_point() or total.is_complex())
    return torch.div(total, dist.get_world_size(), rounding_mode="trunc" if integers else None)
''',
    "allreduce_": '''\
def allreduce_(tensor, op=None):
    """The mean over all ranks in the tensor itself, truncated for integers; op: a different reduction."""
    dist.all_reduce(tensor, op or dist.ReduceOp.SUM)
    if op is not None:
        return tensor
    integers = not (tensor.is_floating_point() or tensor.is_complex())
    return tensor.div_(dist.get_world_size(), rounding_mode="trunc" if integers else None)
''',
    "allreduce_async": '''\
def allreduce_async(tensor, op=None):
    """Start the mean over all ranks in a new tensor, which synchronize() gives; op: a different reduction."""
    total = tensor.detach().clone(memory_format=torch.contiguous_format)
    sent = dist.all_reduce(total, op or dist.ReduceOp.SUM, async_op=True)

    def result():
        integers = not (total.is_floating_point() or total.is_complex())
        if op is None:
            total.div_(dist.get_world_size(), rounding_mode="trunc" if integers else None)
        return total

    return [sent, result]
''',
    "allreduce_async_": '''\
def allreduce_async_(tensor, op=None):
    """Start the mean over all ranks in the tensor itself, for synchronize(); op: a different reduction."""
    sent = dist.all_reduce(tensor.detach(), op or dist.ReduceOp.SUM, async_op=True)

    def result():
        integers = not (tensor.is_floating_point() or tensor.is_complex())
        if op is None:
            tensor.detach().div_(dist.get_world_size(), rounding_mode="trunc" if integers else None)
        return tensor

    return [sent, result]
''',
    "synchronize": '''\
def synchronize(handle):
    """The result of what was started; None where it was asked for before."""
    if not handle:
        return None
    sent, result = handle
    handle.clear()
    sent.wait()
    return result()
''',
    "poll": '''\
def poll(handle):
    """Whether what was started is done."""
    return handle[0].is_completed()
''',
    "allgather_async": '''\
def allgather_async(tensor):
    """Start to gather the rows of all ranks, which synchronize() waits for."""
    counts = [None] * dist.get_world_size()
    dist.all_gather_object(counts, len(tensor))
    padding = tensor.new_zeros(max(counts) - len(tensor), *tensor.shape[1:])
    padded = torch.cat([tensor.detach(), padding])
    parts = [torch.empty_like(padded) for _ in counts]
    sent = dist.all_gather(parts, padded, async_op=True)
    return [sent, lambda: torch.cat([part[:count] for part, count in zip(parts, counts)])]
''',
    "broadcast_async": '''\
def broadcast_async(tensor, root_rank):
    """Start to send the tensor of one rank into a new tensor, which synchronize() waits for."""
    copy = tensor.detach().clone(memory_format=torch.contiguous_format)
    return [dist.broadcast(copy, src=root_rank, async_op=True), lambda: copy]
''',
    "broadcast_async_": '''\
def broadcast_async_(tensor, root_rank):
    """Start to send the tensor of one rank into the tensor itself, which synchronize() waits for."""
    return [dist.broadcast(tensor.detach(), src=root_rank, async_op=True), lambda: tensor]
''',
    "allgather": '''\
class RowsOfAllRanks(torch.autograd.Function):
    """The rows of all ranks, which may have different numbers of them; gradients are averaged."""

    @staticmethod
    def forward(ctx, tensor):
        counts = [None] * dist.get_world_size()
        dist.all_gather_object(counts, len(tensor))
        ctx.rows = sum(counts[: dist.get_rank()]), len(tensor)
        padding = tensor.new_zeros(max(counts) - len(tensor), *tensor.shape[1:])
        padded = torch.cat([tensor, padding])
        parts = [torch.empty_like(padded) for _ in counts]
        dist.all_gather(parts, padded)
        return torch.cat([part[:count] for part, count in zip(parts, counts)])

    @staticmethod
    def backward(ctx, gradient):
        total = gradient.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total.narrow(0, *ctx.rows) / dist.get_world_size()


def allgather(tensor):
    """The rows of all ranks in one tensor."""
    return RowsOfAllRanks.apply(tensor)
''',
    "allgather_object": '''\
def allgather_object(obj):
    """The objects of all ranks in a list."""
    found = [None] * dist.get_world_size()
    dist.all_gather_object(found, obj)
    return found
''',
    "broadcast": '''\
def broadcast(tensor, root_rank):
    """The tensor of one rank, in a new tensor."""
    copy = tensor.detach().clone(memory_format=torch.contiguous_format)
    dist.broadcast(copy, src=root_rank)
    return copy
''',
    "broadcast_": '''\
def broadcast_(tensor, root_rank):
    """The tensor of one rank, in the tensor itself."""
    dist.broadcast(tensor.detach(), src=root_rank)
    return tensor
''',
    "broadcast_object": '''\
def broadcast_object(obj, root_rank=0):
    """The object of one rank."""
    box = [obj]
    dist.broadcast_object_list(box, src=root_rank)
    return box[0]
''',
    "broadcast_parameters": '''\
def broadcast_parameters(params, root_rank):
    """Give every rank the tensors of one rank."""
    for _, tensor in params.items() if hasattr(params, "items") else params:
        if torch.is_tensor(tensor):
            dist.broadcast(tensor.detach(), src=root_rank)
''',
    "broadcast_optimizer_state": '''\
def broadcast_optimizer_state(optimizer, root_rank):
    """Give every rank the state and the settings of one rank's optimizer."""
    written = io.BytesIO()
    torch.save(optimizer.state_dict(), written)
    box = [written.getvalue()]
    dist.broadcast_object_list(box, src=root_rank)
    optimizer.load_state_dict(torch.load(io.BytesIO(box[0]), map_location="cpu"))
''',
    words.AVERAGES: '''\
def average_before_steps(optimizer, half=False):
    """The optimizer, which averages over all ranks what it trains before each step; half: sent as float16."""
    held = [each for group in optimizer.param_groups for each in group["params"] if each.requires_grad]
    held, skipping = dict.fromkeys(held), []

    @torch.no_grad()
    def synchronize():
        steps = [each for group in optimizer.param_groups for each in group["params"]]
        more = [each for each in steps if each.requires_grad and each not in held]
        alike = {}
        if not held.keys() <= set(steps):
            more = []  # apex steps copies of its own
        for parameter in (*held, *more):
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            alike.setdefault((parameter.grad.device, parameter.grad.dtype), []).append(parameter.grad)
        for gradients in alike.values():
            total = torch.cat([gradient.reshape(-1) for gradient in gradients])
            total = (total.half() if half else total).div_(dist.get_world_size())
            dist.all_reduce(total)
            for gradient, mean in zip(gradients, total.split([each.numel() for each in gradients])):
                gradient.copy_(mean.view_as(gradient))

    @contextlib.contextmanager
    def skip_synchronize():
        skipping.append(True)
        try:
            yield
        finally:
            skipping.pop()

    def before_step(_, args, kwargs):
        if any(closure is not None for closure in (*args[1:], *kwargs.values())):
            raise RuntimeError("step() with a closure computes gradients that are not averaged")
        if not skipping:
            synchronize()

    optimizer.synchronize, optimizer.skip_synchronize = synchronize, skip_synchronize
    optimizer.register_step_pre_hook(before_step)
    return optimizer
''',
    "sum_gradients": '''\
def sum_gradients(state, bucket):
    """A hook of DDP that sums gradients, where DDP averages them."""
    sent = dist.all_reduce(bucket.buffer(), async_op=True)
    return sent.get_future().then(lambda done: done.value()[0])
''',
}
DIST = re.compile(r"(?<![\w.])dist\.")


def in_file(names: Names, helper: str) -> tuple[Edit, str]:
    """The edit that writes a helper below the file's imports, and the name that calls it there."""
    name = free_name(names, helper)
    text = re.sub(rf"\b{helper}\b(?=\()", name, HELPERS[helper])
    for made in re.findall(r"(?m)^class (\w+)", text):
        text = re.sub(rf"\b{made}\b", free_name(names, made), text)
    lines = ["", "", *with_dist(names, text).rstrip("\n").split("\n")]
    return _below_imports(names, lines), name


def free_name(names: Names, wanted: str) -> str:
    """A name that nothing in the file is called."""
    while wanted in names.bound or wanted in names.uses:
        wanted += "_of_ranks"
    return wanted


def with_dist(names: Names, text: str) -> str:
    """A text that says `dist.`, with the name that torch.distributed has in the file."""
    taken = [b for scope in names.scopes.values() for b in scope.names.get("dist", ())]
    taken += names.module.names.get("dist", [])
    if all(binding.qualified == "torch.distributed" for binding in taken):
        return text
    return DIST.sub("torch.distributed.", text)


def _below_imports(names: Names, lines: list[str]) -> Edit:
    """Lines below the imports that the file begins with."""
    last = None
    for statement in names.source.tree.body:
        plain = isinstance(statement, (ast.Import, ast.ImportFrom))
        text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not plain and not (text and last is None):
            break
        last = statement
    if last is None:
        return edits.before(names.source, names.source.tree.body[0], [*lines[2:], "", ""])
    return edits.after(names.source, last, lines)
