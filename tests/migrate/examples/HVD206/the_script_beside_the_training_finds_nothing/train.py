# Reported: the script beside the training finds nothing in what that writes from now on

import sys
import torch

prefix = "module.encoder."
found = {k: v for k, v in torch.load(sys.argv[1])["state"].items() if k.startswith(prefix)}
torch.save(found, sys.argv[2])
