"""Is a tumour benign? A small network on 30 measurements of each cell nucleus image: python train.py

The data are the 569 cases of the Wisconsin breast cancer set (Street et al. 1993), which ship in scikit-learn.
"""

import argparse
from pathlib import Path

import horovod.torch as hvd
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load_data():
    measurements, labels = load_breast_cancer(return_X_y=True)
    parts = train_test_split(measurements, labels, test_size=0.25, random_state=0, stratify=labels)
    train_x, test_x, train_y, test_y = (torch.as_tensor(part).float() for part in parts)
    mean, std = train_x.mean(0), train_x.std(0)
    return TensorDataset((train_x - mean) / std, train_y), TensorDataset((test_x - mean) / std, test_y)


def evaluate(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in loader:
            logits = model(x.to(device)).squeeze(1)
            correct += ((logits > 0) == y.to(device)).sum().item()
    return correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--warmup-epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--checkpoint", type=Path, default=Path("model.pt"))
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    args = parser.parse_args()
    torch.manual_seed(0)

    train_set, test_set = load_data()
    train_sampler = DistributedSampler(train_set, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, sampler=train_sampler)
    test_loader = DataLoader(test_set, batch_size=256)

    model = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1)).to(device)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr * hvd.size(), momentum=0.9)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    # The learning rate grows to its full size over the first epochs, then stays.
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda epoch: min(1, (epoch + 1) / args.warmup_epochs)
    )

    first_epoch = 0
    if args.resume:
        checkpoint = torch.load(args.checkpoint, map_location=device)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])
        first_epoch = checkpoint["epoch"] + 1

    for epoch in range(first_epoch, args.epochs):
        train_loader.sampler.set_epoch(epoch)
        model.train()
        total = 0.0
        for x, y in train_loader:
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            loss = criterion(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        accuracy = evaluate(model, test_loader)
        if hvd.rank() == 0:
            print(f"epoch {epoch}: loss {total / len(train_loader):.4f} test accuracy {accuracy:.4f}")
            torch.save(
                {
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "scheduler": scheduler.state_dict(),
                    "epoch": epoch,
                },
                args.checkpoint,
            )


if __name__ == "__main__":
    hvd.init()
    if torch.cuda.is_available():
        torch.cuda.set_device(hvd.local_rank())
    main()
