"""Reports that people review: load, build, render, write. Runs are read, `reports/` is written."""
