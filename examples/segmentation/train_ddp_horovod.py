"""Semantic segmentation with DeepLabV3, as a training operator on Kubernetes starts it, or torchrun.

Every process finds RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in its environment; an operator starts one for each
pod and sets no LOCAL_RANK.
"""

import argparse

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from data import CLASSES, load
from model import DeepLab


def train(model, loader, optimizer, scheduler, device, epoch, args):
    model.train()
    for batch, (images, labels) in enumerate(loader):
        images, labels = images.to(device), labels.to(device)
        logits, auxiliary = model(images)
        loss = F.cross_entropy(logits, labels) + args.auxiliary * F.cross_entropy(auxiliary, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if batch % args.log_interval == 0 and hvd.rank() == 0:
            print(f"epoch {epoch} batch {batch}/{len(loader)} loss {loss.item():.4f}")


@torch.no_grad()
def mean_iou(model, loader, device):
    """The intersection over union, averaged over the classes, of the pixels of all ranks."""
    model.eval()
    hvd.broadcast_parameters(dict(model.named_buffers()), root_rank=0)
    counts = torch.zeros(CLASSES, CLASSES, dtype=torch.long, device=device)  # true class by predicted class
    for images, labels in loader:
        predicted = model(images.to(device))[0].argmax(1)
        pairs = CLASSES * labels.to(device).flatten() + predicted.flatten()
        counts += torch.bincount(pairs, minlength=CLASSES**2).view(CLASSES, CLASSES)
    hvd.allreduce_(counts, op=hvd.Sum)
    hits = counts.diag()
    return (hits / (counts.sum(0) + counts.sum(1) - hits).clamp(min=1)).mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--backend", choices=["gloo", "nccl"], default="nccl" if torch.cuda.is_available() else "gloo"
    )
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=16, help="per process")
    parser.add_argument("--width", type=int, default=16, help="channels of the first layer")
    parser.add_argument(
        "--lr", type=float, default=0.002, help="of the backbone; the heads' is twice as large"
    )
    parser.add_argument("--auxiliary", type=float, default=0.4, help="weight of the auxiliary loss")
    parser.add_argument("--log-interval", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", default="segmentation.pt")
    args = parser.parse_args()

    hvd.init()
    rank, world_size = hvd.rank(), hvd.size()
    local_rank = hvd.local_rank()
    use_cuda = torch.cuda.is_available()
    if use_cuda:
        torch.cuda.set_device(local_rank)
    device = torch.device("cuda", local_rank) if use_cuda else torch.device("cpu")
    torch.manual_seed(args.seed)

    train_set, held_out = load()
    train_sampler = DistributedSampler(train_set, num_replicas=world_size, rank=rank)
    train_loader = DataLoader(train_set, args.batch_size, sampler=train_sampler, drop_last=True)
    val_sampler = DistributedSampler(held_out, num_replicas=world_size, rank=rank, shuffle=False)
    val_loader = DataLoader(held_out, 64, sampler=val_sampler)

    model = DeepLab(CLASSES, args.width).to(device)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    net = model
    backbone = [*net.early.parameters(), *net.late.parameters()]
    heads = [*net.head.parameters(), *net.auxiliary.parameters()]
    groups = [{"params": backbone, "lr": args.lr}, {"params": heads, "lr": 2 * args.lr}]
    optimizer = torch.optim.AdamW(groups, lr=args.lr, weight_decay=1e-4)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=[*net.auxiliary.named_parameters(prefix="net.auxiliary"), *net.early.named_parameters(prefix="net.early"), *net.head.named_parameters(prefix="net.head"), *net.late.named_parameters(prefix="net.late")])
    steps = args.epochs * len(train_loader)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (1 - step / steps) ** 0.9)  # "poly"

    for epoch in range(1, args.epochs + 1):
        train_sampler.set_epoch(epoch)
        train(model, train_loader, optimizer, scheduler, device, epoch, args)
        score = mean_iou(model, val_loader, device)
        if rank == 0:
            print(f"epoch {epoch}: mIoU {100 * score:.1f}%")
            torch.save(model.state_dict(), args.save)
    hvd.shutdown()


if __name__ == "__main__":
    main()
