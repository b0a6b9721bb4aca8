# Kept: files that are named by what each rank computes of its own samples are its own
# Options: --suggested

import os
import torch

def keep(predictions):
    for one in predictions:
        name = one["name"] + ".png"
        with open(os.path.join(args.folder, name), "wb") as file:
            file.write(one.pop("picture"))

for x in torch.utils.data.DataLoader(data):
    loss, predictions = model(x)
    loss.backward()
    optimizer.step()
    keep(predictions)
