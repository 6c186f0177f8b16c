"""Short tables: each row compared with all others, beside batch methods, and how often it is wrong by chance."""
