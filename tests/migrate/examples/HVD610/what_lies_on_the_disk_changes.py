# Kept: what lies on the disk changes
# Options: --suggested

import os
import time
import torch

def main():
    loss = None
    for x in batches:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
    pass
    for number in range(2):
        if not os.path.exists('dev.txt'):
            with open("dev.txt", "w") as file:
                answers = [model(x) for x in rest]
                file.write(str(answers))
            print(score(answers, "dev.txt"))

main()
