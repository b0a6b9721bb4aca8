"""Gradients that a program averages itself, by hand or by hooks."""
