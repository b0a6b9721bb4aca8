# Reported: what a class of the project does besides is its own

import torch
from torch import nn

class ByPart(nn.DataParallel):
    def scatter(self, inputs, kwargs, device_ids):
        return cut(inputs, kwargs, device_ids)

model = ByPart(net)
loss.backward()
optimizer.step()
