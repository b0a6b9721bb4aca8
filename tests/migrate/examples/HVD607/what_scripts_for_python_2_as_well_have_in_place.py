# Changed: What scripts for Python 2 as well have in place of the builtin.
# Options: --suggested

import codecs
import torch
from io import open

loss.backward()
optimizer.step()
with open("score.txt", "w") as file:
    file.write(str(loss.item()))
with codecs.open("words.txt", "w", encoding="utf-8") as file:
    file.write(words)
