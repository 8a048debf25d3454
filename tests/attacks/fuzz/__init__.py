"""Random hostile mutations of honest projects, right and wrong."""
