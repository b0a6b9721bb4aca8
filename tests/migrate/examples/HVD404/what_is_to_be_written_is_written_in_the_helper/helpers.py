import torch


class Scaler:
    def __init__(self):
        self._scaler = torch.cuda.amp.GradScaler()

    def __call__(self, loss, optimizer, update=True):
        self._scaler.scale(loss).backward()
        if update:
            self._scaler.step(optimizer)
            self._scaler.update()
