"""Hostile projects, what they are let loose on, and what came of it."""
