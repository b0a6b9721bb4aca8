import horovod.torch as hvd
import torch
from torchvision.models import get_model
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(get_model(args.model, aux_loss=args.aux))
model = model.module
groups = [{"params": [p for p in model.backbone.parameters() if p.requires_grad]}]
if args.aux:
    more = [p for p in model.classifier.parameters() if p.requires_grad]
    groups.append({"params": more, "lr": 0.1})
optimizer = torch.optim.SGD(groups, lr=0.01)
optimizer = hvd.DistributedOptimizer(optimizer)
