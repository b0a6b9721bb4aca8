# Kept: record only writes an exception down, with or without torchrun

from torch.distributed.elastic.multiprocessing.errors import record

@record
def main():
    pass
