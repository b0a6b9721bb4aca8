import horovod.torch as hvd
import torch.distributed as dist

size = dist.get_world_size()
groups = hvd.global_process_set, hvd.global_process_set
# hvdkit: TODO[HVD509] write hvd.add_process_set(ranks) after hvd.init(process_sets="dynamic"), the same sets in the same order on all ranks, and run hvdkit migrate again: it uses them in the collectives
half = dist.new_group(list(range(size // 2)))
