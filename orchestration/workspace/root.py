"""The earlier place of :func:`orchestration.settings.find_root`, for scripts outside this repository."""

from orchestration.settings import find_root as find_root
