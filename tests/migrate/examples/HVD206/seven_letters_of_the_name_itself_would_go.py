# Reported: seven letters of the name itself would go

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
bare = {key[7:]: value for key, value in model.state_dict().items()}
