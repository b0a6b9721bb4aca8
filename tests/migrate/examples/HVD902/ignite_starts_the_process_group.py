# Reported: Ignite starts the process group

import ignite.distributed as idist
import torch

model = idist.auto_model(torch.nn.Linear(2, 1))
