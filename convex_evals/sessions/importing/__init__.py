"""From conversations as agents keep them to sessions without secrets."""
