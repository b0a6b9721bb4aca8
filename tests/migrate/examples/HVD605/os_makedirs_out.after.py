import os
import torch

if not os.path.exists("out"):
    os.makedirs("out", exist_ok=True)
if not os.path.isdir(log):
    os.makedirs(log, exist_ok=True)
loss.backward()
optimizer.step()
