"""What each column of a file probably is: rules that look at values first, and at names where those say nothing."""
