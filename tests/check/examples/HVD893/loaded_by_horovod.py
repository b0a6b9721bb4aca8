# Kept: Horovod wraps the optimizer as it loads

import horovod.tensorflow.keras as hvd
import tensorflow as tf

hvd.init()
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
model = hvd.load_model("resume.h5")
model.fit(x, y, epochs=2, callbacks=callbacks)
