"""What code there is and when it runs: calls, loops, and what can go or be done by one rank."""
