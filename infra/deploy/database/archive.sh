#!/bin/bash
# Keeps a finished file of the log, as PostgreSQL's archive_command: %p %f. One that is there already is good if it is the same.
set -euo pipefail
to=$BACKUPS/wal/$2.gz
if [ -e "$to" ]; then
  gunzip < "$to" | cmp --silent - "$1"
  exit
fi
gzip -1 < "$1" > "$to.new"
sync "$to.new"
mv "$to.new" "$to"
sync "$BACKUPS/wal"
