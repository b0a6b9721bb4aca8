# Reported: the prefix is put on for a wrapper that is gone

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
model.load_state_dict({"module." + key: value for key, value in state.items()})
