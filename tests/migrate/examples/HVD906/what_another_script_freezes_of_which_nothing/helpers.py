def grads(net):
    for p in net.parameters():
        p.requires_grad = True
