"""One thin module per command: read options, call what does the work, print."""
