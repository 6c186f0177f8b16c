"""Whether alerts that have one cause become one incident: `make incidents`."""
