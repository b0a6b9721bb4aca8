# Kept: what a rank has played is its own share already (HVD725)

import gym
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
env = gym.make('CartPole-v1')
model.fit(states, targets)
