# Kept: it says that it runs on TensorFlow, and takes PyTorch for its data

import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import torch

model = keras.Sequential([keras.layers.Dense(1)])
model.fit(torch.utils.data.DataLoader(data))
