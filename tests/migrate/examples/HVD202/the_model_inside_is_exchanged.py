# Reported: the model inside is exchanged: which variable gets it is not the rule's to say

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
model.module = other
