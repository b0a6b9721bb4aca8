"""Steps of optimizers, where each is wrapped, and what looks at its gradients in between."""
