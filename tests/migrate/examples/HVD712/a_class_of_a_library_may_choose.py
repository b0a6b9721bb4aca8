# Reported: what a library's class takes when compile is given no optimizer is its own matter

import keras
import keras_hub

class Reviews(keras_hub.models.TextClassifier):
    pass

model = Reviews(backbone)
model.compile(loss="mse", metrics=["mae"])
model.fit(x, y)
