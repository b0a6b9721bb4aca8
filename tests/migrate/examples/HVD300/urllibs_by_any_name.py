# Reported: every rank would download to the same file; the function of urllib has several names

import torch
from six.moves import urllib

try:
    from urllib import urlretrieve
except ImportError:
    from urllib.request import urlretrieve

def weights(path):
    urllib.request.urlretrieve(URL, path)
    urlretrieve(URL, path + ".zip")
    return torch.load(path)

model.load_state_dict(weights("model.pth"))
model(x).sum().backward()
optimizer.step()
