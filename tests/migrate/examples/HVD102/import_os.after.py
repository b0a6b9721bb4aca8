import horovod.torch as hvd
import torch.distributed as dist

launched = {
    "RANK": str(hvd.rank()),
    "WORLD_SIZE": str(hvd.size()),
}
launched["RANK"] = "7"
dist.init_process_group("gloo")
print(int(launched["RANK"]))
