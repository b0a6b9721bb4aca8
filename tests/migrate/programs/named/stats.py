"""Numbers that all ranks report, summed up over them."""

import torch

_device = None
_counters = {}


def init(device):
    global _device
    _device = device


def report(name, value):
    moments = torch.stack([torch.ones_like(value).sum(), value.sum()]).detach().double()
    _counters[name] = _counters.get(name, torch.zeros_like(moments)) + moments


def collect():
    names = sorted(_counters)
    if not names:
        return {}
    totals = torch.stack([_counters[name] for name in names])
    if _device is not None:
        torch.distributed.all_reduce(totals)
    return dict(zip(names, (totals[:, 1] / totals[:, 0]).tolist()))
