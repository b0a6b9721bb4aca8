# Reported: the sizes may be a list or None, which is decided at run time

import torch.distributed as dist

dist.all_to_all_single(received, sent, received_sizes, sent_sizes)
