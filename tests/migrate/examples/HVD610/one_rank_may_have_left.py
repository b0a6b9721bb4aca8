# Kept: one rank may have left
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
    if loss.item() > 1: return
    for number in range(2):
        if args.test:
            with open("dev.txt", "w") as file:
                answers = [model(x) for x in rest]
                file.write(str(answers))
            print(score(answers, "dev.txt"))

main()
