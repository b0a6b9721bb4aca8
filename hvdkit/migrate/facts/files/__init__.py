"""What a program writes, and which ranks write it."""
