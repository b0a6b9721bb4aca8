"""What a rule and a finding are, and which rules there are."""
