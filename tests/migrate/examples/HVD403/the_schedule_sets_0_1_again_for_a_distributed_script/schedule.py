class Poly:
    def __init__(self, base_lr):
        self.base_lr = base_lr

    def __call__(self, optimizer, i):
        for group in optimizer.param_groups:
            group["lr"] = self.base_lr * (1 - i / 100) ** 0.9
