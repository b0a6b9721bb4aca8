# Kept: an optimizer of what a function makes of its input, for its answer alone: nothing is trained by it

import torch

def attack(model, images, labels):
    w = torch.atanh(images * 2 - 1).detach()
    w.requires_grad = True
    best = images.clone()
    optimizer = torch.optim.Adam([w], lr=0.1)
    for step in range(100):
        changed = torch.tanh(w)
        cost = torch.nn.functional.cross_entropy(model(changed), labels)
        optimizer.zero_grad()
        cost.backward()
        optimizer.step()
        if step % 10 == 0:
            best = changed.detach()
    return best

images = attack(network, pictures, classes)
