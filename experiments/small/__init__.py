"""Small models: what they cost beside the default, and the settings that were compared."""
