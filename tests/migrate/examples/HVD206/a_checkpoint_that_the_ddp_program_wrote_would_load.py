# Reported: a checkpoint that the DDP program wrote would load nothing, silently

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
model.load_state_dict(state, strict=False)
