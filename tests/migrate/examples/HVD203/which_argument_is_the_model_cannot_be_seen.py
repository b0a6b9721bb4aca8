# Reported: which argument is the model cannot be seen

import torch

model = torch.nn.DataParallel(*args)
loss.backward()
optimizer.step()
