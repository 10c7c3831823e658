"""One file per architecture family: configuration -> `ModelSpec`. Importing this package imports them all."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
