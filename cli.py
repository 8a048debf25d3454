"""`python cli.py ...`: the command line without installing its scripts."""

from convex_evals.__main__ import main

if __name__ == "__main__":
    main()
