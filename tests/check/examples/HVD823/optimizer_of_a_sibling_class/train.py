# Kept: this class does not inherit from the one that wraps its optimizer

import torch

from trainers import Trainer, WithHorovod


class Plain(Trainer):
    def step(self, loss):
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()


for batch in batches:
    Plain(model).step(batch)
    WithHorovod(model).step(batch)
