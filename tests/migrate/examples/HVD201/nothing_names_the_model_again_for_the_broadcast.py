# Reported: nothing names the model again, for the broadcast

from torch.nn.parallel import DistributedDataParallel as DDP

models = {key(): DDP(build())}
