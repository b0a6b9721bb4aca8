# Reported: a link is made once: for the second rank it is there

import os
import torch

def link(path, name):
    try:
        os.symlink(path, name)
    except FileExistsError:
        os.unlink(name)
        os.symlink(path, name)

loss.backward()
optimizer.step()
link("a.pt", "best.pt")
