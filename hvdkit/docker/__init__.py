"""`hvdkit docker`: the files that take a Horovod script into an image, and the image onto a cluster.

The image underneath, with PyTorch, Horovod and the ssh server, is docker/Dockerfile's; its versions are in
docker/versions.txt and nowhere here.
"""
