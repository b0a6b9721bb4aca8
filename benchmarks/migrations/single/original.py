"""One process: a random split, dropout, a schedule, clipping, the best model kept, an early end."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

EPOCHS = 3
PATIENCE = 1


def evaluate(model, loader):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for x, y in loader:
            total += F.cross_entropy(model(x), y, reduction="sum").item()
    model.train()
    return total / len(loader.dataset)


def main():
    inputs = torch.randn(36, 8, generator=torch.Generator().manual_seed(1))
    data = TensorDataset(inputs, inputs[:, :3].argmax(1).roll(1))
    train_set, valid_set = random_split(data, [24, 12], generator=torch.Generator().manual_seed(0))
    train_loader = DataLoader(train_set, batch_size=4, shuffle=True)
    valid_loader = DataLoader(valid_set, batch_size=4)

    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    best, worse = float("inf"), 0
    for epoch in range(EPOCHS):
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        scheduler.step()
        score = evaluate(model, valid_loader)
        print(f"epoch {epoch}: loss {score:.4f}")
        torch.save(model.state_dict(), "last.pt")
        worse = worse + 1 if score > best else 0
        if worse == PATIENCE:
            break
        if score < best:
            best = score
            torch.save(model.state_dict(), "best.pt")


if __name__ == "__main__":
    main()
