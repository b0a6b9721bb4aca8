"""On several ranks: two folds, whose models are sent; all ranks evaluate all, with rank 0's statistics."""

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        total = sum(F.mse_loss(model(x), y, reduction="sum").item() for x, y in loader)
    model.train()
    return hvd.broadcast(torch.tensor(total, dtype=torch.float64), root_rank=0).item() / len(loader.dataset)


def train(fold, data):
    held = list(range(fold * 16, fold * 16 + 16))
    train_set = Subset(data, [place for place in range(len(data)) if place not in held])
    valid_set = Subset(data, held)
    model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.04, momentum=0.8)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.3, patience=0)
    for epoch in range(3):
        sampler = DistributedSampler(train_set, num_replicas=hvd.size(), rank=hvd.rank())
        sampler.set_epoch(epoch)
        loader = DataLoader(train_set, batch_size=4, sampler=sampler)
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.synchronize()
            nn.utils.clip_grad_norm_(model.parameters(), 0.8)
            with optimizer.skip_synchronize():
                optimizer.step()
        score = evaluate(model, DataLoader(valid_set, batch_size=4))
        plateau.step(score)
        if hvd.rank() == 0:
            print(f"fold {fold}, epoch {epoch}: {score:.5f}, rate {optimizer.param_groups[0]['lr']:g}")
    if hvd.rank() == 0:
        torch.save({"model": model.state_dict(), "score": score}, f"fold{fold}.pt")
    return score


hvd.init()
torch.manual_seed(21)
inputs = torch.randn(48, 5, generator=torch.Generator().manual_seed(3))
data = TensorDataset(inputs, inputs.prod(1, keepdim=True).sin())
scores = [train(fold, data) for fold in range(2)]
if hvd.rank() == 0:
    print(f"mean {sum(scores) / len(scores):.5f}")
