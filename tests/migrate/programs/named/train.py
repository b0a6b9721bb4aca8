"""A GAN whose networks, optimizers and losses are made by name, in processes that meet in a file."""

import argparse
import os
import tempfile
from pathlib import Path

import loop
import stats
import torch
import torch.multiprocessing
from config import Config


def worker(rank, c, folder):
    if c.gpus > 1:
        store = Path(folder).absolute() / ".store"
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{store}", rank=rank, world_size=c.gpus
        )
    stats.init(torch.device("cpu") if c.gpus > 1 else None)
    loop.train(rank=rank, **c)
    if c.gpus > 1:
        torch.distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpus", type=int, default=2)
    opts = Config(vars(parser.parse_args()))
    c = Config(batch_size=8, steps=6, reg=2)
    c.gpus = opts.gpus
    c.batch_gpu = c.batch_size // opts.gpus // 2
    c.generator_kwargs = Config(class_name="nets.Generator")
    c.critic_kwargs = Config(class_name="nets.Discriminator")
    c.opt_kwargs = Config(class_name="torch.optim.Adam", lr=0.05, betas=(0.0, 0.99))
    c.loss_kwargs = Config(class_name="nets.Loss", penalty=2.0)
    c.data_kwargs = Config(class_name="nets.Data")
    runs = Path(f"{os.environ['RESULTS']}.runs")
    found = [int(folder.name) for folder in runs.iterdir()] if runs.is_dir() else []
    c.run = runs / f"{max(found, default=-1) + 1:05d}"
    assert not c.run.exists()
    c.run.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if c.gpus == 1:
            worker(rank=0, c=c, folder=folder)
        else:
            torch.multiprocessing.spawn(fn=worker, args=(c, folder), nprocs=c.gpus)


if __name__ == "__main__":
    main()
