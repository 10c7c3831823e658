"""The lessons, in the order in which they are taught."""

from pages.ui.learn.lesson import Lesson
from pages.ui.learn.lessons import (
    batch,
    feeding,
    memory,
    precision,
    processors,
    saving,
    scaling,
    sharding,
    sizes,
    watching,
)

LESSONS: tuple[Lesson, ...] = (
    memory.LESSON,
    sizes.LESSON,
    precision.LESSON,
    batch.LESSON,
    sharding.LESSON,
    saving.LESSON,
    processors.LESSON,
    scaling.LESSON,
    feeding.LESSON,
    watching.LESSON,
)
"""Every lesson; each module beside this one is one of them."""

BY_ID: dict[str, Lesson] = {lesson.id: lesson for lesson in LESSONS}
"""The lessons by id."""
