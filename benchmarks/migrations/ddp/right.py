"""Small images, with Horovod: pretrained, partly frozen, dropout, a running average of the weights."""

import copy

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

EPOCHS = 3


def images(count, seed):
    pixels = torch.randn(count, 1, 6, 6, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(pixels, (pixels.mean((1, 2, 3)) > 0).long())


def build():
    stem = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten()).requires_grad_(False)
    return nn.Sequential(stem, nn.Linear(64, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2))


def accuracy(model, loader):
    model.eval()
    correct = torch.zeros(1)
    with torch.no_grad():
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum()
    model.train()
    hvd.allreduce_(correct, op=hvd.Sum)
    return correct.item() / len(loader.dataset)


def main():
    hvd.init()
    torch.manual_seed(1 + hvd.rank())
    train_set, test_set = images(28, 1), images(20, 2)
    train_sampler = DistributedSampler(train_set, num_replicas=hvd.size(), rank=hvd.rank())
    train_loader = DataLoader(train_set, batch_size=4, sampler=train_sampler, drop_last=True)
    test_sampler = DistributedSampler(test_set, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)
    test_loader = DataLoader(test_set, batch_size=4, sampler=test_sampler)

    model = build()
    if hvd.rank() == 0:
        model.load_state_dict(torch.load("pretrained.pt"))
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    average = copy.deepcopy(model)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=0.1, momentum=0.9, weight_decay=0.01)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    for epoch in range(EPOCHS):
        train_sampler.set_epoch(epoch)
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.synchronize()
            nn.utils.clip_grad_norm_(model.parameters(), 0.6)
            with optimizer.skip_synchronize():
                optimizer.step()
            with torch.no_grad():
                for slow, fast in zip(average.parameters(), model.parameters()):
                    slow.lerp_(fast, 0.1)
        scheduler.step()
        score = accuracy(model, test_loader)
        if hvd.rank() == 0:
            print(f"epoch {epoch}: accuracy {score:.2f}")
            torch.save({"model": model.state_dict(), "average": average.state_dict()}, "model.pt")
    hvd.shutdown()


if __name__ == "__main__":
    main()
