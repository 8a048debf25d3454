"""Simulated experiments, judged by our own verdicts: see scripts/simulate_aa.py."""
