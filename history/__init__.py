"""Released defects that the suite's general checks have to find, each beside its repair."""
