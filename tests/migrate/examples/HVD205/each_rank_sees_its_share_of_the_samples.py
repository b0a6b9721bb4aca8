# Reported: each rank sees its share of the samples, and what it reads of the others is old

import torch

class Bank(torch.nn.Module):
    def __init__(self, count, size):
        super().__init__()
        self.register_buffer("memory", torch.randn(count, size))

    def forward(self, features, indices):
        scores = self.memory @ features.t()
        with torch.no_grad():
            mixed = 0.5 * self.memory[indices] + 0.5 * features
            self.memory.index_copy_(0, indices, mixed)
        return scores

bank = Bank(100, 8)
loader = torch.utils.data.DataLoader(data)
for x, indices in loader:
    loss = bank(model(x), indices).mean()
    loss.backward()
    optimizer.step()
