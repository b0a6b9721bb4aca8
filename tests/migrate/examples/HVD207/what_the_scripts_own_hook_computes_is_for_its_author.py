# Reported: what the script's own hook computes is for its author to place

from torch.nn.parallel import DistributedDataParallel as DDP

def scaled(state, bucket):
    return state.allreduce(bucket.buffer() / state.steps)

model = DDP(net)
model.register_comm_hook(state, scaled)
