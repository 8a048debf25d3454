"""Batch interfaces: requests that a provider results together, within a day and at half the price."""
