"""On several ranks: class weights, groups without decay, one cycle over all steps of a rank."""

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

EPOCHS = 3

hvd.init()
torch.manual_seed(11)
inputs = torch.randn(64, 6, generator=torch.Generator().manual_seed(1))
targets = (inputs[:, :3].argmax(1) * (inputs[:, 3] > -0.5)).long()
inputs = (inputs - inputs.mean(0)) / inputs.std(0)
train_set = TensorDataset(inputs[:48], targets[:48])
valid_set = TensorDataset(inputs[48:], targets[48:])
counts = torch.bincount(targets[:48], minlength=3)
weights = counts.sum() / (3.0 * counts)
train_sampler = DistributedSampler(train_set, num_replicas=hvd.size(), rank=hvd.rank())
train_loader = DataLoader(train_set, batch_size=4, sampler=train_sampler)
valid_sampler = DistributedSampler(valid_set, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)
valid_loader = DataLoader(valid_set, batch_size=4, sampler=valid_sampler)

model = nn.Sequential(nn.Linear(6, 12), nn.LayerNorm(12), nn.ReLU(), nn.Dropout(0.1), nn.Linear(12, 3))
decayed = [p for p in model.parameters() if p.dim() > 1]
others = [p for p in model.parameters() if p.dim() < 2]
groups = [{"params": decayed, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=0.01)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
scheduler = torch.optim.lr_scheduler.OneCycleLR(
    optimizer, max_lr=0.02, total_steps=EPOCHS * len(train_loader)
)
for epoch in range(EPOCHS):
    trained, hits = torch.zeros(()), torch.zeros(())
    train_sampler.set_epoch(epoch)
    for x, y in train_loader:
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y, weight=weights)
        loss.backward()
        optimizer.step()
        scheduler.step()
        trained += loss.detach()
        hits += (out.argmax(1) == y).sum()
    trained = hvd.allreduce(trained / len(train_loader), op=hvd.Average).item()
    hits = hvd.allreduce(hits, op=hvd.Sum).item()
    model.eval()
    found = torch.zeros(2, dtype=torch.float64)
    with torch.no_grad():
        for x, y in valid_loader:
            found[0] += (model(x).argmax(1) == y).sum().item()
            found[1] += F.cross_entropy(model(x), y, reduction="sum").item()
    model.train()
    correct, total = hvd.allreduce(found, op=hvd.Sum).tolist()
    if hvd.rank() == 0:
        print(f"trained {trained:.5f}, {hits:.0f} hits")
        print(f"epoch {epoch}: accuracy {correct / len(valid_set):.3f}, loss {total / len(valid_set):.5f}")
        torch.save(
            {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, "last.pt"
        )
