# Kept: the others would not return
# Options: --suggested

import torch

def tell(scores):
    with open("log.txt", "a") as file:
        file.write(str(scores))
        return len(scores)

loss.backward()
optimizer.step()
tell(scores)
