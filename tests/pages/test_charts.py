import plotly.graph_objects as go

from pages.ui.charts import Limit, Mark, Series, line_chart, stacked_bar_chart
from pages.ui.text import text_in

EN, AR = text_in("en"), text_in("ar")
X = [1, 2, 4, 8]


def curve(**named):
    return line_chart(
        EN, X, [Series(label="Memory", values=[20.2, 23.7, 30.6, 44.5])], x_label="size", unit="GiB", **named
    )


def annotations(figure) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def test_few_points_carry_their_figures_and_no_legend() -> None:
    figure = curve(decimals=1)
    assert figure.data[0].mode == "lines+markers+text"
    assert list(figure.data[0].text) == ["20.2", "23.7", "30.6", "44.5"]
    assert figure.layout.showlegend is False
    assert figure.layout.yaxis.showticklabels is False


def test_the_steps_of_a_sweep_stand_at_equal_distances() -> None:
    assert list(curve().data[0].x) == ["1", "2", "4", "8"]
    assert curve().layout.xaxis.type == "category"


def test_units_and_axis_are_said_and_the_axis_starts_at_zero() -> None:
    figure = curve()
    assert annotations(figure)[:2] == ["GiB", "size"]
    assert figure.layout.yaxis.range[0] == 0
    assert figure.layout.yaxis.range[1] > 44.5


def test_the_limit_is_a_named_line_in_view() -> None:
    figure = curve(limit=Limit(y=80.0, label="80 usable"))
    assert figure.layout.shapes[0].y0 == 80.0
    assert "80 usable" in annotations(figure)
    assert figure.layout.yaxis.range[1] > 80


def test_a_figure_just_under_the_limit_stands_below_its_point() -> None:
    places = curve(limit=Limit(y=24.0, label="24")).data[0].textposition
    assert list(places) == ["bottom center", "bottom center", "top left", "top center"]


def test_the_marked_point_is_drawn_last_and_named() -> None:
    figure = curve(marks=[Mark(x=4, y=30.6, label="now")])
    assert list(figure.data[-1].x) == ["4"]
    assert list(figure.data[-1].text) == ["now"]


def test_a_word_at_the_edge_stands_inwards() -> None:
    figure = curve(marks=[Mark(x=1, y=20.2, label="first"), Mark(x=8, y=44.5, label="last")])
    assert list(figure.data[-1].textposition) == ["bottom right", "bottom left"]


def test_several_curves_are_named_at_their_ends() -> None:
    series = [Series(label="A", values=[1, 2, 3, None]), Series(label="B", values=[2, 3, 4, 5])]
    figure = line_chart(EN, X, series, x_label="size", unit="GiB")
    ends = {note.text: (note.x, note.y) for note in figure.layout.annotations[2:]}
    assert ends == {"A": (2, 3), "B": (3, 5)}
    assert figure.layout.yaxis.showticklabels is True


def test_arabic_labels_keep_their_direction_inside_a_chart() -> None:
    figure = line_chart(AR, X, [Series(label="x", values=X)], x_label="حجم الدفعة", unit="GiB")
    assert annotations(figure)[:2] == ["GiB", "\u2067حجم الدفعة\u2069"]


def test_bars_stack_in_the_colours_of_the_memory_bar_and_say_their_totals() -> None:
    parts = [
        Series(label="Weights", values=[15.0] * 4, key="mem.weights"),
        Series(label="Logits", values=[3.0, 6.0, 12.0, 24.0], key="mem.logits"),
    ]
    figure = stacked_bar_chart(EN, X, parts, x_label="size", unit="GiB")
    assert figure.layout.barmode == "stack"
    assert annotations(figure)[2:] == ["18.0", "21.0", "27.0", "39.0"]
    assert figure.data[0].marker.color != figure.data[1].marker.color


def test_labels_are_escaped() -> None:
    figure = line_chart(EN, X, [Series(label="<b>", values=X)], x_label="<i>", unit="GiB")
    assert "&lt;i&gt;" in annotations(figure)
    assert "&lt;b&gt;" in figure.data[0].hovertemplate


def test_a_chart_is_small_on_the_wire() -> None:
    assert len(curve().to_json()) < 2500


def test_descriptions_are_what_plotly_accepts():
    """Charts skip Plotly's own checks when drawn; here they are made."""
    text = text_in("ar")
    series = [Series(label="a", values=[1.0, None, 3.0]), Series(label="b", values=[2.0, 2.5, 4.0])]
    limit, marks = Limit(y=2.0, label="limit"), [Mark(x=1, y=1.0, label="here")]
    shapes = {"x_label": "x", "unit": "GiB", "limit": limit}
    for figure in (
        line_chart(text, [1, 2, 4], series, marks=marks, **shapes),
        line_chart(text, [1, 2, 4], series[:1], steps=False, dark=True, **shapes),
        stacked_bar_chart(text, [1, 2, 4], series, **shapes),
    ):
        checked = go.Figure(figure.to_dict())  # raises on a property or value that Plotly doesn't know
        assert checked.to_dict()["data"] == figure.to_dict()["data"]
