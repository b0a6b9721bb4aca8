# Kept: it sums, or is a float, or is not known to be an integer

import horovod.torch as hvd
import torch

hvd.init()
total = hvd.allreduce(torch.tensor(len(data)), op=hvd.Sum)
mean = hvd.allreduce(torch.tensor(count()).float())
unknown = hvd.allreduce(torch.tensor(count()))
