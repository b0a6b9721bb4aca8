"""How a plan is shown: text for people, JSON for machines. Every form prints the same Plan."""
