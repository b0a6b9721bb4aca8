# Changed: Horovod averages the parameters that the optimizer has when it is wrapped.

import torch

model = torch.nn.Linear(2, 1)
if args.adam:
    optimizer = torch.optim.Adam([model.weight], lr=0.1)
else:
    optimizer = torch.optim.SGD([model.weight], lr=0.1)
# biases
optimizer.add_param_group({"params": [model.bias], "weight_decay": 0})
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
model(x).sum().backward()
