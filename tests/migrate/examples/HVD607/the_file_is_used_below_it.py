# Kept: the file is used below it
# Options: --suggested

import torch

loss.backward()
optimizer.step()
file = open("log.txt", "a")
file.write("done")
file.close()
print(file.closed)
