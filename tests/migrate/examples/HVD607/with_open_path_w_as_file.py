# Changed.
# Options: --suggested

import os
import torch

loss.backward()
optimizer.step()
path = os.path.join(args.folder, "args.txt")
print("settings are in", path)
with open(path, "w") as file:
    for key in sorted(vars(args)):
        value = getattr(args, key)
        file.write("{} = {}\n".format(key, value))
with open(os.path.join(args.folder, "config.txt"), "w") as file:
    file.write(str(config))
