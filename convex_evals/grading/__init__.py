"""From a project's files to a verdict."""
