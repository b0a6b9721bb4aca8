# Reported: the pool's process cannot ask for the rank; what hands the function on can

import multiprocessing
import numpy as np
import torch

def export(scores, path):
    np.save(path, scores)

loss.backward()
optimizer.step()
pool = multiprocessing.Pool(2)
pool.apply_async(export, (loss.item(), "loss"))
