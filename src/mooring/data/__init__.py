"""Images, the sources they come from, how they are divided among clients, and how they are augmented."""
