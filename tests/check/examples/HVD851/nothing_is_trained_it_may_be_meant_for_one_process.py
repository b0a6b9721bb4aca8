# Kept: nothing is trained: it may be meant for one process

import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(2, 2).to("cuda")
model.load_state_dict(torch.load("model.pt"))
print([model(x) for x in batches])
