# Reported: an Estimator owns the loop

import tensorflow as tf

estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig())
estimator.train(input_fn, steps=100)
