"""Launch, both ways: a plan -> ready-to-run configuration, and a pasted configuration or command -> a plan."""
