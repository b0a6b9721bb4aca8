"""What the optimizer steps: the parameters, or a flat copy with a scaled loss, as for half precision."""

import torch
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

SCALE = 1024.0


def gradient_or_zeros(param):
    if param.grad is None:
        return torch.zeros_like(param)
    return param.grad.data.detach().float()


def flat_copy(params):
    return torch.nn.Parameter(_flatten_dense_tensors([param.detach().float() for param in params]))


def copy_gradients(params, master):
    master.grad = _flatten_dense_tensors([gradient_or_zeros(param) for param in params])


class Masters:
    def __init__(self, model, copies):
        self.model = model
        self.copies = copies
        self.own = list(model.parameters())
        self.params = self.own
        if copies:
            self.params = [flat_copy(self.own)]

    def zero_grad(self):
        for param in self.own:
            param.grad = None

    def backward(self, loss):
        if self.copies:
            (loss * SCALE).backward()
        else:
            loss.backward()

    def step(self, optimizer):
        if not self.copies:
            optimizer.step()
            return
        (master,) = self.params
        copy_gradients(self.own, master)
        master.grad.mul_(1.0 / SCALE)
        optimizer.step()
        with torch.no_grad():
            for param, value in zip(self.own, _unflatten_dense_tensors(master.detach(), self.own)):
                param.copy_(value)
