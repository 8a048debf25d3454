"""`python cli.py ...`: the command line without installing its scripts."""

from convex_evals.cli.app import main

if __name__ == "__main__":
    main()
