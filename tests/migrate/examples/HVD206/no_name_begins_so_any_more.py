# Reported: no name begins so any more, and the list would be empty without an error

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
slow = [p for name, p in model.named_parameters() if name.startswith("module.backbone")]
