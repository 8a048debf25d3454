"""Conversations of people with coding agents: imported, labelled and exported as datasets."""
