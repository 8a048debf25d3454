"""Pages: everything in `runs/` and around it as HTML, served by `cli view` and written by `cli site`."""
