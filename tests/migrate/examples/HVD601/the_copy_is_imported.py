# Reported: the copy is imported

import shutil
import sys
import torch

shutil.copy("models/net.py", folder)
sys.path.append(folder)
loss.backward()
optimizer.step()
