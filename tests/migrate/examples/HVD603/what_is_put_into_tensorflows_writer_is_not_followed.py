# Reported: what is put into TensorFlow's writer is not followed

import tensorflow as tf
import torch

writer = tf.summary.FileWriter("runs")
loss.backward()
optimizer.step()
writer.add_summary(loss.item(), 1)
