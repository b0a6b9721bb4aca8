"""The programs of a project: their files, their kind, and which code each of them reaches."""
