import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = {"generator": torch.nn.Linear(2, 2), "critic": torch.nn.Linear(2, 1)}
chosen = getattr(torch.optim, config["optimizer"])
optimizer = {
    "generator": hvd.DistributedOptimizer(chosen(model["generator"].parameters(), **config["options"]), named_parameters=model["generator"].named_parameters(prefix="model['generator']")),
    "critic": hvd.DistributedOptimizer(chosen(model["critic"].parameters(), **config["options"]), named_parameters=model["critic"].named_parameters(prefix="model['critic']")),
}
model["generator"] = DDP(model["generator"])
model["critic"] = DDP(model["critic"])
