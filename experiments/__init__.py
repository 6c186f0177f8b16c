"""Section 5 of the Online Isolation Forest paper again, with the oif package: `make paper`, docs/paper.md."""
