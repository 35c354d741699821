"""What is found of a release and said of it: a file for each thing."""
