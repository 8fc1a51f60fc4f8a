"""Where rows come from. Confidential: only counting reads them.

Arrow and DuckDB are loaded when a source needs them, not with this room.
"""

from cuboid.sources.draft import draft_schema
from cuboid.sources.opening import open_source
from cuboid.sources.source import Source

__all__ = ["Source", "draft_schema", "open_source"]
