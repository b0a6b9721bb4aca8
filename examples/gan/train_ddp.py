"""A DCGAN on 8x8 handwritten digits, one process per GPU (two on a machine without): python train_ddp.py

Radford et al. 2015 (arXiv:1511.06434), with an exponential moving average of the generator (Karras et al. 2017,
arXiv:1710.10196), which is what is sampled from and saved.
"""

import argparse
import copy
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from data import frechet_distance, load


class Generator(nn.Module):
    """Noise (N, z) to images (N, 1, 8, 8)."""

    def __init__(self, z, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.ConvTranspose2d(z, 4 * width, 2, bias=False),
            nn.BatchNorm2d(4 * width),
            nn.ReLU(),
            nn.ConvTranspose2d(4 * width, 2 * width, 4, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
            nn.ConvTranspose2d(2 * width, 1, 4, stride=2, padding=1),
            nn.Tanh(),
        )

    def forward(self, noise):
        return self.layers(noise[:, :, None, None])


class Discriminator(nn.Module):
    """Images (N, 1, 8, 8) to logits (N,): how real each one looks."""

    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 2 * width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(2 * width, 4 * width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(4 * width * 2 * 2, 1),
        )

    def forward(self, images):
        return self.layers(images).squeeze(1)


def train_discriminator(discriminator, optimizer, real, fake):
    """Real images up, generated ones down."""
    logits = discriminator(torch.cat([real, fake]))
    wanted = torch.cat([torch.ones(len(real)), torch.zeros(len(fake))]).to(logits.device)
    loss = F.binary_cross_entropy_with_logits(logits, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def train_generator(generator, discriminator, optimizer, noise):
    """Generated images that look real; the discriminator stays as it is."""
    discriminator.requires_grad_(False)
    logits = discriminator.module(generator(noise))
    loss = F.binary_cross_entropy_with_logits(logits, torch.ones_like(logits))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    discriminator.requires_grad_(True)
    return loss


@torch.no_grad()
def update_average(average, model, decay):
    """Parameters move a little towards the model's; BatchNorm's statistics are taken over."""
    for mean, parameter in zip(average.parameters(), model.parameters()):
        mean.lerp_(parameter, 1 - decay)
    for mean, buffer in zip(average.buffers(), model.buffers()):
        mean.copy_(buffer)


@torch.no_grad()
def distance(generator, images, z, device):
    """How far generated images are from real ones that were held out."""
    noise = torch.randn(1024, z, generator=torch.Generator().manual_seed(0)).to(device)
    return frechet_distance(generator(noise), images)


def train(local_rank, world_size, args):
    os.environ.setdefault("MASTER_ADDR", "localhost")
    os.environ.setdefault("MASTER_PORT", "29500")
    use_cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if use_cuda else "gloo", rank=local_rank, world_size=world_size)
    if use_cuda:
        torch.cuda.set_device(local_rank)
    device = torch.device("cuda", local_rank) if use_cuda else torch.device("cpu")
    torch.manual_seed(args.seed + dist.get_rank())  # every rank draws noise of its own

    images, held_out = load()
    sampler = DistributedSampler(images, seed=args.seed)
    loader = DataLoader(TensorDataset(images), batch_size=args.batch_size, sampler=sampler, drop_last=True)

    generator = DDP(Generator(args.z, args.width).to(device), device_ids=[local_rank] if use_cuda else None)
    discriminator = DDP(Discriminator(args.width).to(device), device_ids=[local_rank] if use_cuda else None)
    average = copy.deepcopy(generator.module).eval().requires_grad_(False)
    g_optimizer = torch.optim.Adam(generator.parameters(), lr=args.lr, betas=(0.5, 0.999))
    d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=args.lr, betas=(0.5, 0.999))

    if dist.get_rank() == 0:
        print(f"untrained: distance to held-out digits {distance(average, held_out, args.z, device):.2f}")
    for epoch in range(1, args.epochs + 1):
        sampler.set_epoch(epoch)
        for (real,) in loader:
            real = real.to(device)
            noise = torch.randn(len(real), args.z, device=device)
            with torch.no_grad():
                fake = generator(noise)
            d_loss = train_discriminator(discriminator, d_optimizer, real, fake)
            g_loss = train_generator(generator, discriminator, g_optimizer, noise)
            update_average(average, generator.module, args.decay)
        losses = torch.stack([d_loss.detach(), g_loss.detach()])
        dist.all_reduce(losses)
        losses /= dist.get_world_size()
        if dist.get_rank() == 0:
            far = distance(average, held_out, args.z, device)
            print(
                f"epoch {epoch}: discriminator {losses[0]:.3f} generator {losses[1]:.3f} distance {far:.2f}"
            )

    if dist.get_rank() == 0:
        torch.save({"generator": average.state_dict(), "z": args.z, "width": args.width}, args.save)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=32, help="per process")
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--z", type=int, default=32, help="numbers of noise for one image")
    parser.add_argument("--width", type=int, default=16, help="channels of the widest feature map")
    parser.add_argument("--decay", type=float, default=0.99, help="of the generator's moving average")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", default="gan.pt")
    args = parser.parse_args()
    world_size = torch.cuda.device_count() or 2
    mp.spawn(train, args=(world_size, args), nprocs=world_size)


if __name__ == "__main__":
    main()
