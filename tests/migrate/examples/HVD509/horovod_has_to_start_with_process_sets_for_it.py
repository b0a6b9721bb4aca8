# Reported: Horovod has to start with process_sets for it

import torch.distributed as dist

pair = dist.new_group([0, 1])
