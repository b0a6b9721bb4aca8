# Kept: one is guarded already, and the other is a file of each rank's own
# Options: --suggested

import torch
import torch.distributed as dist

loss.backward()
optimizer.step()
if dist.get_rank() == 0:
    with open("log.txt", "a") as file:
        file.write("done")
with open(f"log.{dist.get_rank()}.txt", "a") as file:
    file.write("done")
