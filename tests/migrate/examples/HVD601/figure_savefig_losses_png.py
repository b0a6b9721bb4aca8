# Changed.

import torch
from matplotlib import pyplot as plt

loss.backward()
optimizer.step()
figure, axes = plt.subplots()
axes.plot(losses)
figure.savefig("losses.png")
