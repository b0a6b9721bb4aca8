# Changed.

import os
import torch

if not os.path.exists("out"):
    os.makedirs("out")
if not os.path.isdir(log):
    os.mkdir(log)
loss.backward()
optimizer.step()
