# Reported: the result has another shape than what was given

import horovod.torch as hvd
import torch

hvd.init()
outputs = torch.ones(4)
hvd.allgather(outputs)
print(outputs)
