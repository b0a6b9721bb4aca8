# Reported: the loaded model comes with an optimizer of Keras's

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
model = tf.keras.models.load_model("resume.h5")
model.fit(x, y, epochs=2, callbacks=callbacks)
