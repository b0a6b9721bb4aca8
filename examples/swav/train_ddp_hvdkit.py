"""SwAV: features of images learned without labels. torchrun --nproc_per_node 2 train_ddp.py

Caron et al. 2020, Unsupervised Learning of Visual Features by Contrasting Cluster Assignments (arXiv:2006.09882):
views of an image predict each other's cluster, and the clusters are kept equally large over all ranks.
"""

import argparse
import math
from pathlib import Path

import hvdkit.torch as hvd
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from data import Folder, Views, digits
from hvdkit.torch import LARS
from model import SwAV


@torch.no_grad()
def sinkhorn(scores, iterations, epsilon):
    """Codes (N, prototypes), rows that sum to 1, in which all prototypes are used alike over the whole batch."""
    codes = torch.exp(scores / epsilon).t()
    samples = codes.shape[1] * hvd.size()
    total = codes.sum()
    hvd.allreduce_(total, op=hvd.Sum)
    codes /= total
    for _ in range(iterations):
        rows = codes.sum(dim=1, keepdim=True)
        hvd.allreduce_(rows, op=hvd.Sum)
        codes /= rows * len(codes)
        codes /= codes.sum(dim=0, keepdim=True) * samples
    return (codes * samples).t()


def swav_loss(points, scores, queue, prototypes, args):
    """Every view predicts the codes of the large ones. `queue` (large, length, dim) has points of earlier batches."""
    views, loss = args.large + args.small, 0
    points, scores = points.detach().chunk(views), scores.chunk(views)
    for i in range(args.large):
        with torch.no_grad():
            known = scores[i].detach()
            if queue is not None:
                if queue[i, -1].any():  # full
                    known = torch.cat([queue[i] @ prototypes.t(), known])
                queue[i] = torch.cat([points[i], queue[i]])[: queue.shape[1]]
            codes = sinkhorn(known.float(), args.sinkhorn_iterations, args.epsilon)[-len(points[i]) :]
        others = [scores[j] for j in range(views) if j != i]
        loss -= sum(
            (codes * F.log_softmax(other / args.temperature, dim=1)).sum(1).mean() for other in others
        ) / len(others)
    return loss / args.large


def learning_rate(step, steps, warmup, lr, final_lr):
    """Linear warm-up, then half a cosine."""
    if step < warmup:
        return lr * step / warmup
    return final_lr + 0.5 * (lr - final_lr) * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


@torch.no_grad()
def neighbours_accuracy(backbone, train, held_out, device, k=10):
    """The share of held-out images (%) whose label the nearest training images vote for, by cosine of the features."""
    backbone.eval()

    def features(images):
        return torch.cat([F.normalize(backbone(part.to(device)), dim=1) for part in images.split(256)])

    known, labels = features(train[0]), train[1].to(device)
    mine = slice(hvd.rank(), None, hvd.size())
    similar, nearest = (features(held_out[0][mine]) @ known.t()).topk(k)
    votes = F.one_hot(labels[nearest], int(labels.max()) + 1) * similar.exp()[:, :, None]
    correct = (votes.sum(1).argmax(1) == held_out[1][mine].to(device)).sum()
    hvd.allreduce_(correct, op=hvd.Sum)
    backbone.train()
    return 100 * correct.item() / len(held_out[1])


def train_epoch(model, loader, optimizer, queue, epoch, device, args):
    total = torch.zeros((), device=device)
    for batch, views in enumerate(loader):
        step = epoch * len(loader) + batch
        lr = learning_rate(step, args.epochs * len(loader), args.warmup * len(loader), args.lr, args.final_lr)
        body, clusters = optimizer.param_groups
        body["lr"], clusters["lr"] = lr, lr if step >= args.freeze_prototypes else 0.0
        with torch.no_grad():
            prototypes = model.prototypes.weight
            prototypes.copy_(F.normalize(prototypes, dim=1))
        with torch.autocast(device.type, torch.bfloat16, enabled=args.amp):
            points, scores = model([view.to(device) for view in views])
            loss = swav_loss(points, scores, queue, prototypes, args)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    hvd.allreduce_(total, op=hvd.Sum)
    return total.item() / hvd.size() / len(loader)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", help="folder with a folder of images for each class (default: scikit-learn's digits)"
    )
    parser.add_argument("--backbone", choices=["small", "resnet50"], default="small")
    parser.add_argument(
        "--large", type=int, default=2, help="large crops of an image, whose codes are predicted"
    )
    parser.add_argument("--small", type=int, default=3)
    parser.add_argument(
        "--sizes", type=int, nargs=2, default=[24, 16], help="of large and small crops; the paper's: 224 96"
    )
    parser.add_argument("--prototypes", type=int, default=40)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--dim", type=int, default=32, help="of the points that are clustered")
    parser.add_argument("--temperature", type=float, default=0.1)
    parser.add_argument("--epsilon", type=float, default=0.03, help="how soft the codes are")
    parser.add_argument("--sinkhorn-iterations", type=int, default=3)
    parser.add_argument(
        "--queue", type=int, default=128, help="points of earlier batches on each rank; 0 for none"
    )
    parser.add_argument("--queue-from", type=int, default=4, help="first epoch with a queue")
    parser.add_argument("--freeze-prototypes", type=int, default=22, help="for this many steps")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--warmup", type=int, default=2, help="epochs")
    parser.add_argument("--batch-size", type=int, default=32, help="per process")
    parser.add_argument("--lr", type=float, default=2.4)
    parser.add_argument("--final-lr", type=float, default=0.001)
    parser.add_argument("--weight-decay", type=float, default=1e-6)
    parser.add_argument("--sync-bn", action="store_true", help="BatchNorm over all ranks; GPUs only")
    parser.add_argument("--amp", action="store_true", help="compute in bfloat16")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--save", type=Path, default=Path("swav"), help="folder for the checkpoint; resumed from if there"
    )
    args = parser.parse_args()

    hvd.init()
    local_rank = hvd.local_rank()
    use_cuda = torch.cuda.is_available()
    if use_cuda:
        torch.cuda.set_device(local_rank)
    device = torch.device("cuda", local_rank) if use_cuda else torch.device("cpu")
    torch.manual_seed(args.seed + hvd.rank())  # every rank distorts its images in its own way

    train, held_out = digits() if args.data is None else (None, None)
    images = Folder(args.data, 256) if train is None else train[0]
    views = Views(images, args.large, args.small, *args.sizes, (0.4, 1.0), (0.2, 0.5))
    sampler = hvd.DistributedSampler(views, seed=args.seed)
    loader = DataLoader(
        views, args.batch_size, sampler=sampler, drop_last=True, num_workers=args.workers, pin_memory=use_cuda
    )

    model = SwAV(args.backbone, 1 if args.data is None else 3, args.hidden, args.dim, args.prototypes)
    if args.sync_bn:
        for layer in model.modules():
            if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                layer.__class__ = hvd.SyncBatchNorm
    model = model.to(device)
    hvd.broadcast(model)
    net = model
    body = [*net.backbone.parameters(), *net.head.parameters()]
    groups = [{"params": body}, {"params": net.prototypes.parameters()}]
    optimizer = LARS(groups, lr=args.lr, momentum=0.9, weight_decay=args.weight_decay)
    optimizer = hvd.DistributedOptimizer(optimizer, {"net.backbone": net.backbone, "net.head": net.head, "net.prototypes": net.prototypes})
    queue, first_epoch = None, 0

    args.save.mkdir(exist_ok=True)
    checkpoint_path, queue_path = args.save / "checkpoint.pt", args.save / f"queue{hvd.rank()}.pt"
    if checkpoint_path.exists():
        checkpoint = torch.load(checkpoint_path, map_location=device)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        first_epoch = checkpoint["epoch"] + 1
    if queue_path.exists():
        queue = torch.load(queue_path, map_location=device)

    if train is not None:
        accuracy = neighbours_accuracy(model.backbone, train, held_out, device)
        if hvd.rank() == 0:
            print(f"before epoch {first_epoch}: nearest neighbours {accuracy:.1f}%")
    for epoch in range(first_epoch, args.epochs):
        sampler.set_epoch(epoch)
        if args.queue and epoch >= args.queue_from and queue is None:
            queue = torch.zeros(args.large, args.queue, args.dim, device=device)
        loss = train_epoch(model, loader, optimizer, queue, epoch, device, args)
        if hvd.rank() == 0:
            print(f"epoch {epoch}: loss {loss:.3f}")
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
            torch.save(state, checkpoint_path)
        if queue is not None:
            torch.save(queue, queue_path)
    if train is not None:
        accuracy = neighbours_accuracy(model.backbone, train, held_out, device)
        if hvd.rank() == 0:
            print(f"after epoch {args.epochs - 1}: nearest neighbours {accuracy:.1f}%")
    hvd.shutdown()


if __name__ == "__main__":
    main()
