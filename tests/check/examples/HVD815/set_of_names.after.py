import glob

import horovod.torch as hvd
import torch

hvd.init()
files = list(sorted(set(glob.glob("a/*.pt") + glob.glob("b/*.pt"))))
mine = files[hvd.rank() :: hvd.size()]
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
