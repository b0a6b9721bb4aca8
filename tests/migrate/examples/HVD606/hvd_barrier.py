# Changed.

import numpy as np
import os
import torch

loss.backward()
optimizer.step()
if not os.path.exists(path):
    np.save(path, step)
step = np.load(path)
