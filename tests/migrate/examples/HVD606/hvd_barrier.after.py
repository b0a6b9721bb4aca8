import numpy as np
import os
import horovod.torch as hvd
import torch

loss.backward()
optimizer.step()
if not os.path.exists(path):
    np.save(path, step)
hvd.barrier()
step = np.load(path)
