"""What several rules have to agree on, decided once: they ask for it here, and never one another."""
