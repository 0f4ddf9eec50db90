#!/bin/bash
# A full backup of the primary, and of the stored files, every BACKUP_HOURS; checked, then kept until there are BACKUPS_KEEP newer ones.
# With `once`: now, and no more. A restore needs a backup and the log from its beginning on, which archive.sh keeps.
set -euo pipefail
export PGPASSWORD=$REPLICATION_PASSWORD
base=$BACKUPS/base

# Of 0 that are kept none is left, not even the one that was just made.
require_number() {
  if [[ ${!1} =~ ^[1-9][0-9]{0,4}$ ]]; then return; fi
  echo "$1 must be a whole number from 1 on: nothing is backed up" >&2
  exit 1
}

take() {
  local new=$base/.unfinished
  # A restored one that still recovers gives no backup of the time that begins with it.
  [ "$(psql "host=$DATABASE_PRIMARY user=replicator dbname=postgres" -Atc 'select pg_is_in_recovery()')" = f ]
  rm -rf "$new"
  mkdir -p "$new"
  pg_basebackup --dbname="host=$DATABASE_PRIMARY user=replicator" --pgdata="$new/database" --wal-method=stream --checkpoint=fast
  pg_verifybackup --quiet "$new/database"
  # 1: a file was taken away meanwhile.
  tar -C "$FILES" -cf "$new/files.tar" . || [ $? -eq 1 ]
  sync
  # By the end of it: who restores an earlier moment needs an earlier one.
  mv "$new" "$base/$(date -u +%Y-%m-%dT%H-%M-%SZ)"
}

# What has no manifest is none.
backups() {
  find "$base" -mindepth 3 -maxdepth 3 -path "$base/2*/database/backup_manifest" "$@" -printf '%h\n' | sort | xargs --no-run-if-empty dirname
}

forget_old() {
  local kept first
  backups | head --lines="-$BACKUPS_KEEP" | xargs --no-run-if-empty rm -rf
  kept=$(backups | head --lines=1)
  first=$(sed -n 's/^START WAL LOCATION: .*(file \(.*\))$/\1/p' "$kept/database/backup_label")
  pg_archivecleanup -x .gz "$BACKUPS/wal" "$first"
}

require_number BACKUPS_KEEP
if [ "${1:-}" = once ]; then
  take
  forget_old
  exit
fi
require_number BACKUP_HOURS
while true; do
  after_restore=()
  if [ -e "$BACKUPS/restored" ]; then after_restore=(-newer "$BACKUPS/restored"); fi
  if [ -z "$(backups -mmin "-$((BACKUP_HOURS * 60))" "${after_restore[@]}" 2>/dev/null)" ]; then
    # By itself: where a command's failure is handled, bash goes on after what fails within it.
    bash "$0" once || echo "no backup was made; trying again in a minute" >&2
  fi
  sleep 60
done
