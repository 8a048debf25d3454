from convex_evals.cli.app import main

main()
