#!/bin/bash
# A full backup of the primary, and of the stored files, every BACKUP_HOURS; checked, then kept until there are BACKUPS_KEEP newer ones.
# With `once`: now, and no more. A restore needs a backup and the log from its beginning on, which archive.sh keeps.
set -euo pipefail
export PGPASSWORD=$REPLICATION_PASSWORD
base=$BACKUPS/base

take() {
  local new=$base/.unfinished
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

forget_old() {
  local kept first
  ls -d "$base"/2* | sort | head --lines="-$BACKUPS_KEEP" | xargs --no-run-if-empty rm -rf
  kept=$(ls -d "$base"/2* | sort | head --lines=1)
  first=$(sed -n 's/^START WAL LOCATION: .*(file \(.*\))$/\1/p' "$kept/database/backup_label")
  pg_archivecleanup -x .gz "$BACKUPS/wal" "$first"
}

if [ "${1:-}" = once ]; then
  take
  forget_old
  exit
fi
while true; do
  if [ -z "$(find "$base" -maxdepth 1 -name '2*' -mmin "-$((BACKUP_HOURS * 60))" 2>/dev/null)" ]; then
    (take && forget_old) || echo "no backup was made; trying again in a minute" >&2
  fi
  sleep 60
done
