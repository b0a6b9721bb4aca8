import horovod.torch as hvd
import torch
import wandb
from tqdm import tqdm

wandb.init(project="digits", mode=("offline" if args.offline else "online") if hvd.rank() == 0 else "disabled")
for x in tqdm(loader, disable=quiet or hvd.rank() != 0):
    model(x).backward()
    optimizer.step()
