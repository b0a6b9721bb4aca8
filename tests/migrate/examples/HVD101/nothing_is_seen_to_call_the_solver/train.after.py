import horovod.torch as hvd
from library import registry
import solvers

def main(options):
    registry.get(options["kind"])(options).train()

if __name__ == "__main__":
    hvd.init()
    main(parse())
