"""The hook's part for TensorFlow and Keras: records at each update of an optimizer, and replays batches.

Every tf.function runs eagerly, in both runs of a comparison, so that values are there to be read. Nothing
here imports torch.
"""
