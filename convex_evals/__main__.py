from convex_evals.app import main

main()
