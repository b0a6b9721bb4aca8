"""Gradients of all twins averaged as Horovod averages those of all ranks."""

from __future__ import annotations

import torch

from hvdkit.verify.hook.twin_peers import Peers


def average(peers: Peers, order: int, parameters: list[torch.Tensor]) -> None:
    """Give every parameter the mean of its gradients on all twins. One that no twin has a gradient for keeps
    none; one that some have none for counts as zero there."""
    own = [None if parameter.grad is None else parameter.grad.detach().cpu() for parameter in parameters]
    of_all = peers.gather(f"the gradients of optimizer {order + 1}", own)
    for place, parameter in enumerate(parameters):
        given = [gradients[place] for gradients in of_all if gradients[place] is not None]
        if given:
            mean = _mean(given, len(of_all)).to(parameter.device)
            if parameter.grad is None:
                parameter.grad = mean
            elif mean.layout is not parameter.grad.layout:
                parameter.grad = mean.to_dense()
            else:
                with torch.no_grad():
                    parameter.grad.copy_(mean)


def _mean(gradients: list[torch.Tensor], count: int) -> torch.Tensor:
    """Summed and then multiplied, as Horovod does; of more than two in float64, as verify lets it do."""
    kind = gradients[0].dtype
    wide = count > 2 and kind.is_floating_point
    total = gradients[0].double() if wide else gradients[0].clone()
    for gradient in gradients[1:]:
        total = total + gradient
    return (total * (1.0 / count)).to(kind)
