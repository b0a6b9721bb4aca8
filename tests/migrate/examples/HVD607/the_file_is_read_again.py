# Kept: the file is read again: a rank could come before it is there
# Options: --suggested

import torch

loss.backward()
optimizer.step()
with open("vocabulary.txt", "w") as file:
    file.write(text)
words = load("vocabulary.txt")
