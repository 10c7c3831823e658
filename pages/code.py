"""Check code: what in a training script costs speed or memory; the code is read, never run."""

from pages.ui import shell

text = shell.page_text()

from pages.ui import leave  # noqa: E402
from pages.ui.code import findings, listing, script  # noqa: E402
from pages.ui.monitor.note import page_title, style  # noqa: E402

leave.go()
style()
page_title(text.t("Check your training code"))
report = script.choose(text)
if report is not None:
    findings.draw(text, report)
    listing.draw(text, report)
