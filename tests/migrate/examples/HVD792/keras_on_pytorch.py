# Reported: hvdkit.tensorflow.keras would stop a program that runs on PyTorch

import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
import torch

loader = torch.utils.data.DataLoader(data, batch_size=16)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
model.fit(loader, epochs=3, callbacks=[keras.callbacks.ModelCheckpoint("kt.keras", monitor="loss")])
