import os
import horovod.torch as hvd
import torch.distributed as dist

def setup():
    if dist.is_initialized():
        return
    hvd.init()
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]

setup()
print(int(os.environ["RANK"]))
