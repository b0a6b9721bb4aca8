"""What a program trains on: loaders, samplers, epochs, and how the data is shared out."""
