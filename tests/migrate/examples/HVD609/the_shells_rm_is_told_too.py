# Reported: the shell's rm is told, too

import os
import torch

os.system("rm -r %s" % folder)
os.system(f"rm -r {folder}")
loss.backward()
optimizer.step()
