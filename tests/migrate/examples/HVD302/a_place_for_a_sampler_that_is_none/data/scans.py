from torch.utils.data import DataLoader


class Scans:
    def __init__(self):
        self.loader = DataLoader(files, shuffle=True, sampler=None)
