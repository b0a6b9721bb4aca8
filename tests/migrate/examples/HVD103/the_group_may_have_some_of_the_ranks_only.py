# Reported: the group may have some of the ranks only

import torch.distributed as dist

some = dist.new_group([0, 1])
group = some if flag else dist.group.WORLD
print(dist.get_rank(group))
