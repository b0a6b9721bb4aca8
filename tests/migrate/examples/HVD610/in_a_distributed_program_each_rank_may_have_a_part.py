# Kept: in a distributed program each rank may have a part of the answers
# Options: --suggested

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
model(x).sum().backward()
optimizer.step()
with open("answers.txt", "w") as file:
    answers = model(rest)
    file.write(str(answers))
print(answers)
