import tensorflow as tf
from data import pipeline as test_data

model = tf.keras.models.load_model("m.keras")
model.evaluate(test_data(test))
