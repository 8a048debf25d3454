"""Workflow files of GitHub Actions, run as they stand: `runner.run_workflow`."""
