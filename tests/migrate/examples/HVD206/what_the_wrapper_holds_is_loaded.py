# Kept: what the wrapper holds is loaded: the names have never had the prefix

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
inner = model.module if several else model
inner.load_state_dict(state, strict=False)
