# Changed: What torch takes where no rate is given is written out.
# Options: --suggested

import torch

optimizer = torch.optim.Adam([{"params": model.body.parameters()}, {"params": model.head.parameters(), "lr": lr / 10}])
loss.backward()
