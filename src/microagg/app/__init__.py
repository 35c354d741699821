"""The whole job in a browser, on this machine alone: the app shows, `microagg.jobs` works.

`server` starts it, `guard` keeps others out, `routes` leads a request to its page, `pages` has one file for each, and
`session` holds what all pages are about: the file, the history of recipes, the figures. Nothing heavy is imported
before a file is opened.
"""
