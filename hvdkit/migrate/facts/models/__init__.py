"""Models, the optimizers that are made for them, and gradients: what is constructed, and where."""
