"""Environment: do driver, CUDA, framework and GPU of this machine belong together; and which would."""

from pages.ui import shell

text = shell.page_text()

from pages.ui.environment import benchmark, explorer, report  # noqa: E402
from pages.ui.monitor.note import page_title, style  # noqa: E402

style()
page_title(text.t("Environment: driver, CUDA, framework and GPU"))
report.draw(text)
benchmark.draw(text)
explorer.draw(text)
