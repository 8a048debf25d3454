"""Runs to a leaderboard deployment: each trial once, whatever becomes of requests and of this process in between."""
