# Kept: it is scaled once

import horovod.torch as hvd
import torch

hvd.init()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * hvd.size())
