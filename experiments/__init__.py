"""Section 5 of the Online Isolation Forest paper again, with the oif package: `experiments/run.sh paper`, docs/paper.md."""
