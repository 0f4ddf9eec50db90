#!/bin/bash
# Runs once, when the database of compose.yaml is made: each service has a database and a role of its own.
set -euo pipefail
for service in facilitator marketplace; do
  password="${service^^}_DATABASE_PASSWORD"
  psql --set ON_ERROR_STOP=1 --set service="$service" --set password="${!password}" --username postgres <<'SQL'
create role :"service" login password :'password';
create database :"service" owner :"service";
revoke connect on database :"service" from public;
SQL
done
