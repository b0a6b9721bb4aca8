# Kept: what an import prints comes before Horovod has started

import torch
from setting import path

def main():
    loss.backward()
    optimizer.step()

if __name__ == "__main__":
    main()
