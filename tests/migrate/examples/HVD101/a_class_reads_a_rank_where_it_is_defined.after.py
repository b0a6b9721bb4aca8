import os
from dataclasses import dataclass
import horovod.torch as hvd

hvd.init()
@dataclass
class Settings:
    device: int = int(os.environ["LOCAL_RANK"])

def main(settings):
    print(settings.device)

main(Settings())
