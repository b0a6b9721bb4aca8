# Kept: no Path's: it takes the folder itself

import torch

if server.exists(folder):
    server.mkdir(folder)
loss.backward()
optimizer.step()
