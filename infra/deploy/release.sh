#!/bin/bash
# A new version on the host of compose.yaml, one copy after the other, without a failed call. From the project's directory.
set -euo pipefail
compose() { docker compose -f infra/deploy/compose.yaml --env-file .env "$@"; }

compose build migrate
compose run --rm migrate
for copy in facilitator-1 facilitator-2 marketplace-1 marketplace-2; do
  compose up --detach --no-deps --wait "$copy"
done
