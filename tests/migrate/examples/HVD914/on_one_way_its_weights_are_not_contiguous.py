# Reported: on one way its weights are not contiguous

import torch

layout = torch.channels_last if args.channels_last else torch.contiguous_format
model = torch.nn.Conv2d(3, 4, 2).cuda().to(memory_format=layout)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
