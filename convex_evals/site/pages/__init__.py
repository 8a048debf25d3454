"""One module for each kind of page: from the library to a `Page`, which a template of the same name renders."""
