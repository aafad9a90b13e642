"""How results leave: tables for people, formats for machines, files replaced as a whole."""
