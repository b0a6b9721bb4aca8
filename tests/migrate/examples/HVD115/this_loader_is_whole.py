# Kept: this loader is whole, and the function counts what it is given

import torch
import torch.distributed as dist
from timm.data import create_loader
from torchmetrics.functional import accuracy

dist.init_process_group("nccl")
loader = create_loader(dataset, (3, 224, 224), 32, distributed=False)
print(accuracy(output, target, "multiclass", num_classes=10))
