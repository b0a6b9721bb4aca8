# Kept: the script starts no ranks: a person who calls it is alone
# Options: --suggested

import tools
import torch

def convert(path):
    torch.save(torch.load(path), path + ".new")

if __name__ == "__main__":
    # convert("model.pt")
    print(tools.VERSION)
