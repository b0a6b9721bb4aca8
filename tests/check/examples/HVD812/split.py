# Changed: one of as many parts as there are ranks
# Options: --suggested

import horovod.torch as hvd
import numpy as np
import torch

hvd.init()
mine = np.array_split(files, hvd.local_size())[hvd.local_rank()]
part = torch.utils.data.Subset(data, range(hvd.local_rank(), len(data), hvd.local_size()))
