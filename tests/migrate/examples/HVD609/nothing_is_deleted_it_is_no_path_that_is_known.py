# Kept: nothing is deleted, it is no path that is known, or a missing file is no error

import os
import torch

loss.backward()
optimizer.step()
os.system("python plot.py")
memory.unlink()
path.unlink(missing_ok=True)
