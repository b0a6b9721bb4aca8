# Changed: Below what draws other weights once more; what is copied after that is alike.

import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer)
model.apply(init_weights)
average = torch.nn.Linear(2, 1)
average.load_state_dict(model.state_dict())
model(x).sum().backward()
