# Reported: an argument is missing, or it gathers within a group

import torch.distributed as dist

group = dist.new_group([0, 1])
dist.broadcast_object_list(src=0)
dist.all_gather_object(everything, one, group=group)
