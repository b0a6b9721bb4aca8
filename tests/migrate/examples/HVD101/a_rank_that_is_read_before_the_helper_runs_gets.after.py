import os
import horovod.torch as hvd

def setup(backend, timeout):
    group = hvd.init()
    return group

def main():
    hvd.init()
    rank = int(os.environ["RANK"])
    print("starting", rank)
    setup("gloo", None)

if __name__ == "__main__":
    main()
