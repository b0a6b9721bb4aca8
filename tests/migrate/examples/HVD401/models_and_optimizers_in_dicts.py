# Changed: Models and optimizers in dicts, and a class that is chosen before.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = {"generator": torch.nn.Linear(2, 2), "critic": torch.nn.Linear(2, 1)}
chosen = getattr(torch.optim, config["optimizer"])
optimizer = {
    "generator": chosen(model["generator"].parameters(), **config["options"]),
    "critic": chosen(model["critic"].parameters(), **config["options"]),
}
model["generator"] = DDP(model["generator"])
model["critic"] = DDP(model["critic"])
