# Reported: the data set is made where the lambda is called, not on its line

import torch
from torchvision import datasets

makers = {"mnist": lambda: datasets.MNIST("data", download=True)}
train = makers["mnist"]()
loss.backward()
optimizer.step()
