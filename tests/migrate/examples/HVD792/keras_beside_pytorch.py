# Reported: whoever starts it may set KERAS_BACKEND

import keras
import torch

model = keras.Sequential([keras.layers.Dense(1)])
model.fit(torch.utils.data.DataLoader(data))
