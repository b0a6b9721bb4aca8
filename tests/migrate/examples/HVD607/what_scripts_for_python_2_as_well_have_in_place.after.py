import codecs
import horovod.torch as hvd
import torch
from io import open

loss.backward()
optimizer.step()
if hvd.rank() == 0:
    with open("score.txt", "w") as file:
        file.write(str(loss.item()))
    with codecs.open("words.txt", "w", encoding="utf-8") as file:
        file.write(words)
