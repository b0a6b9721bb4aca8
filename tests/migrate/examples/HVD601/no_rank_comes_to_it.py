# Kept: no rank comes to it

import pickle
import torch

def write(things, path):
    with open(path, "wb") as file:
        pickle.dump(things, file)

loss.backward()
optimizer.step()
