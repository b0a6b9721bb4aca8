# Reported: The function runs above the start.

import horovod.torch as hvd


def settings():
    return {"device": hvd.local_rank()}


args = settings()
hvd.init()
