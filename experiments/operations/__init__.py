"""Which operational anomalies are found, how soon, how many false alerts: `make operations`."""
