"""Free text of measured rows -> the catalogue's own names. Refuses where it is unsure, and says what it assumed."""
