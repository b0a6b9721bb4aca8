# Changed: One wrap after the chain, not one inside the model's own file.

import torch
from models import Net

model = Net()
if args.adam:
    optimizer = model.configure(0.1)
else:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
model(x).sum().backward()
