"""What each table of a recipe is about, as a heading over its choices."""

TITLES = {
    "roles": "Which column is what",
    "recode": "Which column is what",
    "kinds": "Which column is what",
    "missing": "Which column is what",
    "importance": "How groups are formed",
    "taxonomy": "Which column is what",
    "units": "Persons, households and firms",
    "diversity": "What a group may give away",
    "join": "Persons, households and firms",
    "method": "How groups are formed",
    "masking": "What is released",
    "weights": "What is released",
    "select": "Which columns form the groups",
    "blocks": "Large files",
    "refine": "Lower loss",
    "read": "How a text file is written; else detected",
    "risk": "What the intruder knows",
    "output": "How it is written",
    "compare": "What is compared",
}
