"""One process: class weights, groups without decay, one cycle over all steps, a running mean of the loss."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 3

torch.manual_seed(11)
inputs = torch.randn(64, 6, generator=torch.Generator().manual_seed(1))
targets = (inputs[:, :3].argmax(1) * (inputs[:, 3] > -0.5)).long()
inputs = (inputs - inputs.mean(0)) / inputs.std(0)
train_set = TensorDataset(inputs[:48], targets[:48])
valid_set = TensorDataset(inputs[48:], targets[48:])
counts = torch.bincount(targets[:48], minlength=3)
weights = counts.sum() / (3.0 * counts)
train_loader = DataLoader(train_set, batch_size=4, shuffle=True)
valid_loader = DataLoader(valid_set, batch_size=4)

model = nn.Sequential(nn.Linear(6, 12), nn.LayerNorm(12), nn.ReLU(), nn.Dropout(0.1), nn.Linear(12, 3))
decayed = [p for p in model.parameters() if p.dim() > 1]
others = [p for p in model.parameters() if p.dim() < 2]
groups = [{"params": decayed, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=0.01)
scheduler = torch.optim.lr_scheduler.OneCycleLR(
    optimizer, max_lr=0.02, total_steps=EPOCHS * len(train_loader)
)
for epoch in range(EPOCHS):
    trained, hits = 0.0, 0
    for x, y in train_loader:
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y, weight=weights)
        loss.backward()
        optimizer.step()
        scheduler.step()
        trained += loss.item()
        hits += (out.argmax(1) == y).sum().item()
    trained /= len(train_loader)
    model.eval()
    correct, total = 0, 0
    with torch.no_grad():
        for x, y in valid_loader:
            correct += (model(x).argmax(1) == y).sum().item()
            total += F.cross_entropy(model(x), y, reduction="sum").item()
    model.train()
    print(f"trained {trained:.5f}, {hits:.0f} hits")
    print(f"epoch {epoch}: accuracy {correct / len(valid_set):.3f}, loss {total / len(valid_set):.5f}")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, "last.pt")
