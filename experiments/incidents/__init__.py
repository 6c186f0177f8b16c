"""Whether alerts that have one cause become one incident: `experiments/run.sh incidents`."""
