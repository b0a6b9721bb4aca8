# Reported: what torchvision's data sets call, called by the script: ranks would unpack while others
# download

import tarfile
import torch
from torchvision.datasets.utils import download_url

def prepare(folder):
    download_url("https://example.org/images.tar", folder)
    tarfile.open(folder + "/images.tar").extractall(folder)

prepare("data")
loss.backward()
optimizer.step()
