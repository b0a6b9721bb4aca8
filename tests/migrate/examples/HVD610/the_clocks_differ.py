# Kept: the clocks differ
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
        while time.time() < end:
            with open("dev.txt", "w") as file:
                answers = [model(x) for x in rest]
                file.write(str(answers))
            print(score(answers, "dev.txt"))

main()
