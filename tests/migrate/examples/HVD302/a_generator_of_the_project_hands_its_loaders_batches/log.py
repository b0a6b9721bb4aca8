def every(batches, n):
    for i, batch in enumerate(batches):
        yield batch
