# Kept: nothing is trained: one process runs it

import os
import torch

def clear(path):
    os.remove(path)

clear("cache.pt")
