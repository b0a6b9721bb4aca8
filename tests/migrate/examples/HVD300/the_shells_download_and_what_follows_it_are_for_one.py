# Reported: the shell's download and what follows it are for one process of each host

import os
import torch

def fetch(folder):
    if not os.path.exists(folder):
        os.system("wget %s; unzip data.zip" % URL)

fetch("data")
model(read("data")).sum().backward()
optimizer.step()
