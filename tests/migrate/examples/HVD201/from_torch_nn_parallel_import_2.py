# Changed.

from torch.nn.parallel import DistributedDataParallel as DDP

generator = DDP(generator, device_ids=[rank]).to(device)
models = {"g": DDP(g), "d": DDP(d, broadcast_buffers=False)}
a, b = DDP(a), DDP(b)
