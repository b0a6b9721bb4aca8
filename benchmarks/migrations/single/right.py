"""On several ranks: a random split, dropout, a schedule, clipping, the best model kept, an early end."""

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split
from torch.utils.data.distributed import DistributedSampler

EPOCHS = 3
PATIENCE = 1


def evaluate(model, loader):
    model.eval()
    total = torch.zeros(1)
    with torch.no_grad():
        for x, y in loader:
            total += F.cross_entropy(model(x), y, reduction="sum")
    model.train()
    return hvd.allreduce(total, op=hvd.Sum).item() / len(loader.dataset)


def main():
    hvd.init()
    inputs = torch.randn(36, 8, generator=torch.Generator().manual_seed(1))
    data = TensorDataset(inputs, inputs[:, :3].argmax(1).roll(1))
    train_set, valid_set = random_split(data, [24, 12], generator=torch.Generator().manual_seed(0))
    train_sampler = DistributedSampler(train_set, num_replicas=hvd.size(), rank=hvd.rank())
    train_loader = DataLoader(train_set, batch_size=4, sampler=train_sampler)
    valid_sampler = DistributedSampler(valid_set, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)
    valid_loader = DataLoader(valid_set, batch_size=4, sampler=valid_sampler)

    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * hvd.size(), momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    best, worse = float("inf"), 0
    for epoch in range(EPOCHS):
        train_sampler.set_epoch(epoch)
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.synchronize()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            with optimizer.skip_synchronize():
                optimizer.step()
        scheduler.step()
        score = evaluate(model, valid_loader)
        if hvd.rank() == 0:
            print(f"epoch {epoch}: loss {score:.4f}")
            torch.save(model.state_dict(), "last.pt")
        worse = worse + 1 if score > best else 0
        if worse == PATIENCE:
            break
        if score < best:
            best = score
            if hvd.rank() == 0:
                torch.save(model.state_dict(), "best.pt")
    hvd.shutdown()


if __name__ == "__main__":
    main()
