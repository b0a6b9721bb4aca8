"""LARC (You, Gitman, Ginsburg 2017): each layer's gradient is scaled by the norms of weights and gradient."""  # noqa: N999

import torch


class LARC:
    """Around an optimizer, with apex's interface: it changes the gradients and then steps the inner one."""

    def __init__(self, optimizer, trust_coefficient=0.02, clip=True, eps=1e-8):
        self.optim = optimizer
        self.trust_coefficient, self.clip, self.eps = trust_coefficient, clip, eps

    @property
    def param_groups(self):
        return self.optim.param_groups

    def zero_grad(self):
        self.optim.zero_grad()

    @torch.no_grad()
    def step(self):
        decays = [group["weight_decay"] for group in self.param_groups]
        for group, decay in zip(self.param_groups, decays):
            group["weight_decay"] = 0
            for p in group["params"]:
                if p.grad is not None and p.norm() > 0 and p.grad.norm() > 0:
                    weight, gradient = p.norm(), p.grad.norm()
                    rate = self.trust_coefficient * weight / (gradient + decay * weight + self.eps)
                    if self.clip:
                        rate = min(rate / group["lr"], 1)
                    p.grad.add_(p, alpha=decay).mul_(rate)
        self.optim.step()
        for group, decay in zip(self.param_groups, decays):
            group["weight_decay"] = decay
