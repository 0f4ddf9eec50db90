#!/bin/bash
# Puts the newest backup in the place of a database that is stopped; at its next start it goes on by the archived log to its end, or to a
# moment: restore.sh [2026-11-23T15:04:05Z]. What was there is set aside.
set -euo pipefail
until=${1:-}
if pg_isready --quiet --host="$DATABASE_NAME"; then
  echo "$DATABASE_NAME is up: stop it first" >&2
  exit 1
fi
backup=""
for one in "$BACKUPS"/base/2*; do
  if [ ! -e "$one/database/backup_manifest" ]; then continue; fi
  if [ -z "$until" ] || [[ ! $(basename "$one") > $(date -u -d "$until" +%Y-%m-%dT%H-%M-%SZ) ]]; then backup=$one; fi
done
if [ ! -d "$backup" ]; then
  echo "there is no backup in $BACKUPS/base that ended before ${until:-now}" >&2
  exit 1
fi
rm -rf "$PGDATA.new"
cp -a "$backup/database" "$PGDATA.new"
# run.sh reads the moment there; PostgreSQL looks for the file alone, and knows no names of time zones yet when it is told.
: > "$PGDATA.new/recovery.signal"
if [ -n "$until" ]; then date -u -d "$until" '+%Y-%m-%d %H:%M:%S.%6N+00' > "$PGDATA.new/recovery.signal"; fi
if [ -e "$PGDATA" ]; then
  # The end of the log is here alone, where it can be read.
  if [ -z "$until" ]; then cp "$PGDATA"/pg_wal/0* "$PGDATA.new/pg_wal/" || true; fi
  mv "$PGDATA" "$PGDATA.before-$(date -u +%Y-%m-%dT%H-%M-%SZ)"
fi
# run.sh has the standby copy it anew, and backup.sh makes a backup of it.
touch "$BACKUPS/restored"
sync "$BACKUPS/restored" "$BACKUPS"
mv "$PGDATA.new" "$PGDATA"
echo "$backup is in place; its files are in $backup/files.tar"
