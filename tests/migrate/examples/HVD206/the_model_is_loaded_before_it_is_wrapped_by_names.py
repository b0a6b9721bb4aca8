# Kept: the model is loaded before it is wrapped, by names without the prefix

from torch.nn.parallel import DistributedDataParallel as DDP

model = build()
model.load_state_dict(state, strict=False)
bare = model
model = DDP(model)
bare.load_state_dict(state, strict=False)
