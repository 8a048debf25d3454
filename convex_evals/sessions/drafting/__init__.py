"""From a session to the draft of an eval: what was asked, the files that came of it, and what a person has to write."""
