"""Loaders, samplers and what is drawn from them: what each rank trains on."""
