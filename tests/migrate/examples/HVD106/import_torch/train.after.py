import horovod.torch as hvd
from tools import start

def main(options):
    start(hvd.local_rank(), options)
