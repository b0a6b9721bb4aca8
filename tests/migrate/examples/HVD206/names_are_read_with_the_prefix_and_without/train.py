# Kept: names are read with the prefix and without

import sys
import torch

found = {}
for k, v in torch.load(sys.argv[1])["state"].items():
    for prefix in ("module.", "net."):
        if k.startswith(prefix):
            k = k[len(prefix):]
    if k.startswith("encoder."):
        found[k[8:]] = v
    elif k.startswith("module.encoder."):
        found[k[15:]] = v
torch.save(found, sys.argv[2])
