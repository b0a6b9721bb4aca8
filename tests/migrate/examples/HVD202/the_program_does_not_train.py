# Kept: the program does not train, and keeps its DataParallel

import torch

model = torch.nn.DataParallel(net)
print(model.module)
