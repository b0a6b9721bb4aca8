def fitting(model):
    model(torch.ones(1, 3)).sum().backward()
    return 16
