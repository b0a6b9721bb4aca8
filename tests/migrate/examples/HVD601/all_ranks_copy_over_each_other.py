# Reported: all ranks copy over each other; whether they all read the copy cannot be seen

import shutil
import torch

shutil.copy("pretrained.pt", folder)
loss.backward()
optimizer.step()
