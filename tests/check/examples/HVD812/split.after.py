import horovod.torch as hvd
import numpy as np
import torch

hvd.init()
mine = np.array_split(files, hvd.size())[hvd.rank()]
part = torch.utils.data.Subset(data, range(hvd.rank(), len(data), hvd.size()))
