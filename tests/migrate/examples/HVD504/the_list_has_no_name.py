# Reported: the list has no name: what is sent into it could not be seen in torch either

import torch.distributed as dist

dist.broadcast_object_list([config], src=0)
