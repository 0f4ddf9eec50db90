#!/bin/bash
# One of the two PostgreSQLs of compose.yaml: the primary where DATABASE_NAME is DATABASE_PRIMARY, else its standby. Its data is made at the
# first start. A standby that is now named the primary is promoted; a former primary becomes a standby, and what it had is set aside.
set -euo pipefail
export PGCONNECT_TIMEOUT=5 PGPASSWORD=$REPLICATION_PASSWORD
here=$(dirname "$0")
home=$(dirname "$PGDATA")
peer=$DATABASE_PRIMARY
if [ "$DATABASE_NAME" = "$DATABASE_PRIMARY" ]; then peer=$DATABASE_STANDBY; fi

say() { echo "$DATABASE_NAME: $*" >&2; }

peer_is_primary() {
  [ "$(psql "host=$peer user=replicator dbname=postgres" -Atc 'select pg_is_in_recovery()' 2>/dev/null)" = f ]
}

initialise() {
  if compgen -G "$BACKUPS/wal/*" >/dev/null; then
    say "there is no data here, and there are backups of some: restore one, or empty $BACKUPS"
    exit 1
  fi
  rm -rf "$PGDATA.new"
  initdb --pgdata="$PGDATA.new" --username=postgres --auth=trust --encoding=UTF8 --locale=C --data-checksums >/dev/null
  # The superuser comes by the socket alone, which is in a directory of PostgreSQL's own.
  cat > "$PGDATA.new/pg_hba.conf" <<'HBA'
local all         all         trust
host  facilitator facilitator all scram-sha-256
host  marketplace marketplace all scram-sha-256
host  postgres    replicator  all scram-sha-256
host  replication replicator  all scram-sha-256
HBA
  local socket="-c listen_addresses='' -c unix_socket_directories=$home"
  pg_ctl --pgdata="$PGDATA.new" --wait --silent --options="$socket" --log=/dev/null start
  make_roles
  pg_ctl --pgdata="$PGDATA.new" --wait --silent stop
  mv "$PGDATA.new" "$PGDATA"
}

make_roles() {
  local as=(psql --host="$home" --username=postgres --set=ON_ERROR_STOP=1 --quiet)
  "${as[@]}" --set=password="$REPLICATION_PASSWORD" <<<"create role replicator login replication password :'password';"
  local service password
  for service in facilitator marketplace; do
    password="${service^^}_DATABASE_PASSWORD"
    "${as[@]}" --set=service="$service" --set=password="${!password}" <<'SQL'
create role :"service" login password :'password';
create database :"service" owner :"service";
revoke connect on database :"service" from public;
SQL
  done
}

# Whether what is here is a standby's of this primary: of the same system, and of its time since a promotion or a restore.
follows_peer() {
  [ -e "$PGDATA/standby.signal" ] || return 1
  local theirs ours
  theirs=$(psql "host=$peer user=replicator replication=true" -AtF ' ' -c 'IDENTIFY_SYSTEM' | cut -d ' ' -f 1,2)
  ours=$(pg_controldata "$PGDATA" | sed -n 's/^Database system identifier: *//p; s/^Latest checkpoint.s TimeLineID: *//p' | xargs)
  [ -z "$theirs" ] || [ "$ours" = "$theirs" ]
}

# What is here may have come past the moment that a restore went back to; a peer that still recovers cannot be compared with it.
is_older_than_restore() { [ "$PGDATA/standby.signal" -ot "$BACKUPS/restored" ]; }

copy_from_peer() {
  rm -rf "$PGDATA.new"
  pg_basebackup --dbname="host=$peer user=replicator" --pgdata="$PGDATA.new" --wal-method=stream --checkpoint=fast || return 1
  touch "$PGDATA.new/standby.signal"
  if [ -d "$PGDATA" ]; then
    say "what was here is not of $peer's; it is in $PGDATA.former now"
    rm -rf "$PGDATA.former"
    mv "$PGDATA" "$PGDATA.former"
  fi
  mv "$PGDATA.new" "$PGDATA"
}

promote_when_up() {
  until pg_ctl --pgdata="$PGDATA" --wait --silent promote 2>/dev/null; do sleep 1; done
  say "promoted"
}

mkdir -p "$BACKUPS/wal" "$BACKUPS/base"
options=()
if [ "$DATABASE_NAME" = "$DATABASE_PRIMARY" ]; then
  if peer_is_primary; then
    say "$peer is the primary: set DATABASE_PRIMARY=$peer, or stop it"
    exit 1
  fi
  [ -d "$PGDATA" ] || initialise
  if [ -e "$PGDATA/standby.signal" ]; then promote_when_up & fi
  if [ -s "$PGDATA/recovery.signal" ]; then
    options+=(-c "recovery_target_time=$(<"$PGDATA/recovery.signal")" -c recovery_target_action=promote)
  fi
elif [ ! -e "$PGDATA/standby.signal" ] || is_older_than_restore || { peer_is_primary && ! follows_peer; }; then
  until peer_is_primary && copy_from_peer; do
    say "waiting for $peer"
    sleep 2
  done
fi

# Neither waits for itself, so both are told the same.
waits_for=""
if [ "$DURABILITY" = synchronous ]; then waits_for="FIRST 1 (\"$DATABASE_PRIMARY\", \"$DATABASE_STANDBY\")"; fi
exec postgres -D "$PGDATA" \
  -c "listen_addresses=$DATABASE_NAME" -c "unix_socket_directories=$home" \
  -c max_connections=200 -c shared_buffers=256MB -c max_wal_size=4GB -c wal_compression=on \
  -c "synchronous_standby_names=$waits_for" \
  -c "primary_conninfo=host=$peer user=replicator application_name=$DATABASE_NAME" \
  -c archive_mode=on -c archive_timeout=60 -c "archive_command=bash $here/archive.sh %p %f" \
  -c "restore_command=gunzip < $BACKUPS/wal/%f.gz > %p" \
  "${options[@]}"
