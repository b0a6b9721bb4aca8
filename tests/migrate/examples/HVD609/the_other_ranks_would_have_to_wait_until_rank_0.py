# Reported: the other ranks would have to wait until rank 0 has deleted the folder

import os
import shutil
import torch

def clear(folder):
    shutil.rmtree(folder)
    os.mkdir(folder)

clear("logs")
loss.backward()
optimizer.step()
