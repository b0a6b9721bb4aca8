"""The optimizers: where they are made, where they step, and where their gradients come from."""
