"""Does this machine's driver, CUDA, framework and GPU belong together? Facts first, then checks of them."""
