"""A report as one HTML file that needs nothing else: fonts inside, no script, made for paper too."""

from html import escape

from pages.ui import theme
from pages.ui.learn.handout import fonts
from pages.ui.memory_bar import memory_bar_html
from pages.ui.report.report import Bar, Block, Drawing, Figures, Heading, Paragraph, Report, Table
from pages.ui.tables import table_html, tiles_html
from pages.ui.text import Text

_STYLE = (
    ":root{color-scheme:light}"
    "body{font-family:'IBM Plex Sans','IBM Plex Sans Arabic',sans-serif;font-variant-numeric:tabular-nums;"
    "max-width:60rem;margin:2rem auto;padding:0 1.25rem;color:#1a212b;line-height:1.5}"
    "h1{font-size:1.6rem}h2{font-size:1.1rem;margin-top:2rem}svg{max-width:100%}"
    "@media print{body{margin:0;max-width:none}h2,table,figure{break-inside:avoid}}"
)


def html(text: Text, report: Report) -> str:
    """The whole file."""
    body = "".join(_block(text, block) for block in report.blocks)
    title = escape(report.title)
    return (
        f'<!doctype html><html lang="{text.language}" dir="{text.direction}"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        'font-src data:; img-src data:">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title>'
        f"<style>{fonts()}{theme.style_sheet()}{_STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>"
    )


def _block(text: Text, block: Block) -> str:
    match block:
        case Heading(words):
            return f"<h2>{escape(words)}</h2>"
        case Paragraph(words, strong, quiet):
            shown = f"<b>{escape(words)}</b>" if strong else escape(words)
            return f"<p{' class=gp-note' if quiet else ''}>{shown}</p>"
        case Bar(parts, capacity, label):
            name = f'<p class="gp-note">{escape(label)}</p>' if label else ""
            return f"{name}{memory_bar_html(parts, capacity, text)}"
        case Figures(tiles):
            return tiles_html(tiles)
        case Table(caption, columns, rows):
            return table_html(text, columns, rows, caption=caption)
        case Drawing(title, svg):
            return f"<figure><figcaption><b>{escape(title)}</b></figcaption>{svg}</figure>"
