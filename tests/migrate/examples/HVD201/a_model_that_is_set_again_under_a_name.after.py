import horovod.torch as hvd
import torch

class Trainer:
    def __init__(self):
        for name in ("encoder", "decoder"):
            hvd.broadcast_parameters(getattr(self, name).state_dict(), root_rank=0)
