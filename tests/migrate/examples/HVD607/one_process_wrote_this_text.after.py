import horovod.torch as hvd
import torch

loss.backward()
optimizer.step()
if hvd.rank() == 0:
    with open("log.txt", "a") as file:
        file.write(str(loss.item()))
