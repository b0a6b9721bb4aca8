# Reported: rmsprop would be another training than the class's own Adam(5e-5)

import keras

class Tuned(keras.Model):
    def compile(self, optimizer="auto", loss="mse", **kwargs):
        if optimizer == "auto":
            optimizer = keras.optimizers.Adam(5e-5)
        super().compile(optimizer=optimizer, loss=loss, **kwargs)

model = Tuned()
model.compile(metrics=["mae"])
model.fit(x, y)
