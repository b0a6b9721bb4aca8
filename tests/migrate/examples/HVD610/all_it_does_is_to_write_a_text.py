# Kept: all it does is to write a text: HVD607
# Options: --suggested

import torch

model(x).sum().backward()
optimizer.step()
with open("score.txt", "w") as file:
    file.write(str(score))
