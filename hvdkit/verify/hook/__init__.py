"""What runs inside the processes of a verified script: fixes randomness, records, ends the run after N steps.

It is injected through PYTHONPATH and one environment variable; the scripts are not edited. Nothing here
imports torch at module level except the modules that `install` loads once the script has imported it.
"""
