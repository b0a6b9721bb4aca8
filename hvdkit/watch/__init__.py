"""What HVDKIT_CHECK_SYNC watches in any running script."""
