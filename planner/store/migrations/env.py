"""Runs the migrations on the connection that `planner.store.engine` hands over, inside its transaction."""

from alembic import context

from planner.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
    transactional_ddl=True,
)
context.run_migrations()
