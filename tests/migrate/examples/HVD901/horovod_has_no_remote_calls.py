# Reported: Horovod has no remote calls

import torch.distributed.rpc as rpc

rpc.init_rpc("worker0", rank=0, world_size=2)
