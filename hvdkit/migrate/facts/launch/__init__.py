"""How the processes of a job are started, what their ranks are, and which of them run some code."""
