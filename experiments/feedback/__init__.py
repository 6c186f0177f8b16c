"""What clicks on "this alert was useless" save, and what they cost, on recorded series."""
