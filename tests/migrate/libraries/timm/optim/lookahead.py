"""Lookahead (Zhang, Lucas, Hinton, Ba 2019): slow weights follow the fast ones every k steps."""

import torch


class Lookahead(torch.optim.Optimizer):
    """Around an optimizer, with timm's interface: it steps the inner one and then changes the weights."""

    def __init__(self, base_optimizer, alpha=0.5, k=6):
        self._base_optimizer = base_optimizer
        super().__init__(base_optimizer.param_groups, {})
        self.param_groups = base_optimizer.param_groups
        self.alpha, self.k, self.steps = alpha, k, 0

    @torch.no_grad()
    def step(self, closure=None):
        loss = self._base_optimizer.step(closure)
        self.steps += 1
        for group in self.param_groups if self.steps % self.k == 0 else ():
            for p in group["params"]:
                slow = self.state[p].setdefault("slow", p.clone())
                slow.add_(p - slow, alpha=self.alpha)
                p.copy_(slow)
        return loss
