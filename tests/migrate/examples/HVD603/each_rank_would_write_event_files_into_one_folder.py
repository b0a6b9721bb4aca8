# Reported: each rank would write event files into one folder

import tensorboard_logger as tb
import torch

log = tb.Logger(logdir="runs", flush_secs=2)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    log.log_value("loss", loss.item(), epoch)
