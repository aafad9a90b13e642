"""Renderings of results: tables for people, formats for machines. Nothing here computes."""
