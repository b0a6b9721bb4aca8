# Kept: what the block computes is used below it
# Options: --suggested

import torch

loss.backward()
optimizer.step()
with open(args.names, "w") as file:
    count = len(names)
    file.write(str(count))
print(count)
