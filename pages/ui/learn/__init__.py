"""The lessons: their model, how they are drawn, presented and printed."""
