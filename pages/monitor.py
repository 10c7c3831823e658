"""Monitor: GPUs as they are, here or elsewhere, now or recorded; why they are slow; alerts."""

from pages.ui import shell

text = shell.page_text()

from pages.ui.monitor import source, view  # noqa: E402
from pages.ui.monitor.note import page_title, style  # noqa: E402

style()
page_title(text.t("Monitor: GPUs as they are"))
chosen = source.choose(text)
if chosen is not None:
    view.draw(text, chosen)
