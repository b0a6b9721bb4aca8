class cfg:
    SHARD = False
