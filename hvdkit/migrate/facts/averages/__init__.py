"""Gradients that a program averages itself: statements, hooks, collectives."""
