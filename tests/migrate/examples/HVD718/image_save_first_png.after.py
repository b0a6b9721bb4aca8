import cv2
import horovod.tensorflow.keras as hvd
import tensorflow as tf
from PIL import Image

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y)
image = Image.fromarray(model.predict(x)).resize((64, 64)).convert("L")
if hvd.rank() == 0:
    image.save("first.png")
    cv2.imwrite("second.png", y)
