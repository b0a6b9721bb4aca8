"""One process without a DataLoader: the script shuffles and slices its tensors itself."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH = 8


def main():
    torch.manual_seed(3)
    inputs = torch.randn(48, 6, generator=torch.Generator().manual_seed(1))
    targets = inputs.sum(1, keepdim=True).sin()
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(2):
        order = torch.randperm(48, generator=torch.Generator().manual_seed(epoch))
        for batch in order.split(BATCH):
            optimizer.zero_grad()
            loss = F.mse_loss(model(inputs[batch]), targets[batch])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")
        torch.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    main()
