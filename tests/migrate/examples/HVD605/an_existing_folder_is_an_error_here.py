# Reported: an existing folder is an error here: only with --suggested

import os
import torch

os.makedirs("out")
loss.backward()
optimizer.step()
