# Kept: a DDP script steps its schedule as it did

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
loss.backward()
schedule.step(loss)
