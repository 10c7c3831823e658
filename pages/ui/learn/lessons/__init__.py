"""The lessons, in the order in which they are taught."""

from pages.ui.learn.lesson import Lesson
from pages.ui.learn.lessons import batch, memory, precision, saving, scaling, sharding, sizes

LESSONS: tuple[Lesson, ...] = (
    memory.LESSON,
    sizes.LESSON,
    precision.LESSON,
    batch.LESSON,
    sharding.LESSON,
    saving.LESSON,
    scaling.LESSON,
)
"""Every lesson; each module beside this one is one of them."""

BY_ID: dict[str, Lesson] = {lesson.id: lesson for lesson in LESSONS}
"""The lessons by id."""
