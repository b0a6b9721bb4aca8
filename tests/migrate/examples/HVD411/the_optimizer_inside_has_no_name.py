# Reported: the optimizer inside has no name by which its methods could be handed on

import torch
from apex.parallel.LARC import LARC

optimizer = LARC(torch.optim.SGD(model.parameters(), lr=0.1))
model(x).sum().backward()
optimizer.step()
