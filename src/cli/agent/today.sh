#!/bin/sh
# A tool answers `describe` with JSON, and `run ARG…` with its result.
case "$1" in
describe)
  cat <<'JSON'
{
  "slug": "today",
  "description": "The date of today.",
  "args": [
    { "name": "format", "description": "A format of date(1)", "type": "string", "backing_type": "string",
      "arity": "optional", "mode": "positional" }
  ],
  "repeatable": true
}
JSON
  ;;
run) date "${2:-+%Y-%m-%d}" ;;
*) echo "say describe or run" >&2; exit 2 ;;
esac
