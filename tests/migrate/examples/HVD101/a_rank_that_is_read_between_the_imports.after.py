import os
import horovod.torch as hvd

hvd.init()
try:
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["SLURM_LOCALID"]
except KeyError:
    pass

import torch

print("ready")
