# Reported: which argument is the model cannot be seen

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(*parts)
