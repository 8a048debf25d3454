"""How well do LLMs write Convex code, and do the guidelines help?"""

__version__ = "0.1.0"
