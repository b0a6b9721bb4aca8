"""Files and who imports whom; no values."""
