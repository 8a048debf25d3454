"""Every path, read and write of the repository's files."""
