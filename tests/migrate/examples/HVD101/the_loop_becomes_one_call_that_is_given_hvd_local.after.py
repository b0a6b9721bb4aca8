import horovod.torch as hvd
from multiprocessing import Process

def run(rank):
    pass

if __name__ == "__main__":
    hvd.init()
    for rank in range(2):
        Process(target=run, args=(rank,)).start()
