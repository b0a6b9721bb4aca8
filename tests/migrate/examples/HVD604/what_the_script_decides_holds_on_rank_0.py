# Changed: What the script decides holds on rank 0; below the imports Horovod has started (HVD110).

import torch
import wandb
from tqdm import tqdm

wandb.init(project="digits", mode="offline" if args.offline else "online")
for x in tqdm(loader, disable=quiet):
    model(x).backward()
    optimizer.step()
