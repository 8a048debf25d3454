"""Containment of processes that execute or open model-written files."""
