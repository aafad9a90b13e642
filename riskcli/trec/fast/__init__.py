"""Run files at the speed of the machine: columns of fields, repeated texts, duplicates."""
