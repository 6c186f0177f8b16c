"""How the default command fares on real series: labelled ones, and ones with planted incidents."""
