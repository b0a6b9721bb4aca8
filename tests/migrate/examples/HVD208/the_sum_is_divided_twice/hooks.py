import torch
import torch.distributed as dist
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors
from torch.autograd import Variable


def average_by_hooks(module):
    for p in module.state_dict().values():
        if not torch.is_tensor(p):
            continue
        dist.broadcast(p, 0)

    def average():
        if module.waiting:
            module.waiting = False
            grads = [p.grad.data for p in module.parameters() if p.grad is not None]
            flat = _flatten_dense_tensors(grads)
            dist.all_reduce(flat)
            flat /= dist.get_world_size()
            flat /= 2
            for old, new in zip(grads, _unflatten_dense_tensors(flat, grads)):
                old.copy_(new)

    for p in list(module.parameters()):
        def hook(*unused):
            Variable._execution_engine.queue_callback(average)
        if p.requires_grad:
            p.register_hook(hook)

    def wait(self, input, output):
        self.waiting = True

    module.register_forward_hook(wait)
    return module


def start():
    dist.init_process_group("gloo")
