# Changed: The test is inside: the second process finds the folder, and must wait all the same.

import os
import tarfile
import urllib.request
import tensorflow as tf

def fetch(url):
    if not os.path.exists("data"):
        urllib.request.urlretrieve(url, "data.tgz")
        with tarfile.open("data.tgz") as archive:
            archive.extractall("data")

fetch(URL)
for x in tf.data.Dataset.list_files("data/*", shuffle=False):
    with tf.GradientTape() as tape:
        loss = model(x)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
