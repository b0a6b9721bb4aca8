"""On several ranks: the rate warms up by steps of a rank; the test is shared out and summed."""

import json
from pathlib import Path

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

WARM = 4


def correct_of(model, loader):
    model.eval()
    correct = torch.tensor(0)
    with torch.no_grad():
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum()
    model.train()
    return hvd.allreduce(correct, op=hvd.Sum).item()


def main():
    hvd.init()
    torch.manual_seed(8)
    inputs = torch.randn(72, 7, generator=torch.Generator().manual_seed(4))
    targets = inputs[:, :2].argmax(1)
    train_set, test_set = TensorDataset(inputs[:48], targets[:48]), TensorDataset(inputs[48:], targets[48:])
    sampler = DistributedSampler(train_set, num_replicas=hvd.size(), rank=hvd.rank())
    train_loader = DataLoader(train_set, batch_size=4, sampler=sampler, drop_last=True)
    test_sampler = DistributedSampler(test_set, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)
    test_loader = DataLoader(test_set, batch_size=8, sampler=test_sampler)
    model = nn.Sequential(nn.Linear(7, 10), nn.GELU(), nn.Linear(10, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / WARM) * 0.5 ** (step // 12)
    )
    best, worse, history = 0, 0, []
    for epoch in range(5):
        sampler.set_epoch(epoch)
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
            loss.backward()
            optimizer.step()
            scheduler.step()
        correct = correct_of(model, test_loader)
        history.append(correct)
        worse = 0 if correct > best else worse + 1
        best = max(best, correct)
        if hvd.rank() == 0:
            total = len(test_loader.dataset)
            print(f"epoch {epoch}: {correct} of {total} ({100 * correct / total:.2f} %)")
        if worse >= 2:
            break
    if hvd.rank() == 0:
        with Path("summary.json").open("w") as file:
            json.dump({"best": best, "history": history, "epochs": epoch + 1}, file)


main()
