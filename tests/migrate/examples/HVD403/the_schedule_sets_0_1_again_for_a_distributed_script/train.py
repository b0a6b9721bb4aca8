# Changed: The schedule sets 0.1 again, for a distributed script, too: told where it does.
# Options: --suggested

import torch
from schedule import Poly

optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = Poly(0.1)
for i, x in enumerate(batches):
    schedule(optimizer, i)
    net(x).sum().backward()
    optimizer.step()
