# Changed: compute() sums over the ranks; without a group each rank would count alone. HVD101 starts Horovod
# above.

import torch
import torch.distributed as dist
import torchmetrics

dist.init_process_group("nccl")
accuracy = torchmetrics.Accuracy("multiclass", num_classes=10)
