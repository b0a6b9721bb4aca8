import torch

class Scheduled:
    def __init__(self, model):
        self._optimizer = torch.optim.Adam(model.parameters())

    def step_and_update(self):
        with self._optimizer.skip_synchronize():
            self._optimizer.step()

def main(x):
    model = torch.nn.Linear(2, 1)
    optimizer = Scheduled(model)
    model(x).sum().backward()
    optimizer._optimizer.synchronize()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step_and_update()
