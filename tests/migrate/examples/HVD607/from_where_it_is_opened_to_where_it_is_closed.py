# Changed: From where it is opened to where it is closed.
# Options: --suggested

import torch

def test(scores):
    file = open("scores.txt", "a")
    file.write(str(scores))
    file.write("\n")
    file.close()
    return scores

loss.backward()
optimizer.step()
test([loss.item()])
