"""Short tables: `oif score` in two passes beside batch methods, and how often it is wrong by chance."""
