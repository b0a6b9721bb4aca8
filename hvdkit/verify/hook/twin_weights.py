"""What all twins have alike, as a single process has it once: weights, and statistics while it evaluates."""

from __future__ import annotations

import gc
from collections.abc import Iterable

import torch

from hvdkit.observe.names import all_modules
from hvdkit.verify.hook.tensors import digest
from hvdkit.verify.hook.twin_peers import Peers


def follow(peers: Peers, parameters: Iterable[torch.Tensor], everything: bool = False) -> None:
    """Give every twin the first one's parameters; everything: and the state of all modules, as at first."""
    held = {id(tensor): tensor for tensor in parameters}
    if everything:
        gc.collect()  # what is only garbage in one process may still lie about in another
        modules = sorted(all_modules(), key=lambda module: type(module).__qualname__)
        for module in modules:
            for tensor in (*module._parameters.values(), *module._buffers.values()):
                if tensor is not None and not torch.nn.parameter.is_lazy(tensor):
                    held.setdefault(id(tensor), tensor)
    tensors = [tensor for tensor in held.values() if not torch.nn.parameter.is_lazy(tensor)]
    seen = peers.gather("its weights", [(digest(tensor), tuple(tensor.shape)) for tensor in tensors])
    shapes = [[shape for _, shape in each] for each in seen]
    if any(each != shapes[0] for each in shapes):
        peers.part("twins hold different modules")
    apart = [place for place in range(len(tensors)) if len({each[place] for each in seen}) > 1]
    if not apart:
        return
    values = [tensors[place].detach().cpu() for place in apart] if not peers.rank else None
    given = peers.gather("the first one's weights", values)[0]
    with torch.no_grad():
        for place, value in zip(apart, given):
            tensors[place].copy_(value)


class Statistics:
    """Running statistics of normalisers: each twin's own in training, the first one's in an evaluation."""

    def __init__(self, peers: Peers) -> None:
        self.peers = peers
        self.own: list[tuple[torch.Tensor, torch.Tensor]] = []  # where they are held, and what they were

    def take_first(self) -> None:
        """Those of the first twin, which a job saves and prints by."""
        held = [
            tensor
            for module in all_modules()
            if isinstance(module, torch.nn.modules.batchnorm._NormBase)
            for tensor in module._buffers.values()
            if tensor is not None
        ]
        if not held:
            return
        if not self.own:
            self.own = [(tensor, tensor.clone()) for tensor in held]
        values = [tensor.detach().cpu() for tensor in held] if not self.peers.rank else None
        given = self.peers.gather("an evaluation", values)[0]
        for tensor, value in zip(held, given):
            tensor.copy_(value)

    def give_back(self) -> None:
        """Each twin's own again."""
        for tensor, value in self.own:
            tensor.copy_(value)
        self.own = []
