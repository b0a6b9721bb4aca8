import horovod.torch as hvd
import torch
from matplotlib import pyplot as plt

loss.backward()
optimizer.step()
figure, axes = plt.subplots()
axes.plot(losses)
if hvd.rank() == 0:
    figure.savefig("losses.png")
