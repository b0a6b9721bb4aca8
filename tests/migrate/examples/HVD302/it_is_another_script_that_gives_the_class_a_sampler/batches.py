class InGroups:
    def __init__(self, sampler):
        self.sampler = sampler
