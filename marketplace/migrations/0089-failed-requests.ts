import type { Migration } from "../../shared/migrate.ts";

export const failedRequests: Migration = {
  name: "0089-failed-requests",
  sql: `
    -- What was answered with a fault of the service's own: few of them, and found by the id that a person was shown.
    create table failed_requests (
      request_id  text not null check (length(request_id) <= 64),
      at          timestamptz not null default now(),
      method      text not null check (length(method) <= 10),
      path        text not null check (length(path) <= 300),
      status      integer not null,
      -- The error's name and code, and the place in the code: its words can hold what was sent, and stay in the log.
      kind        text not null check (length(kind) <= 100),
      place       text check (length(place) <= 200),
      -- A caller can name its request, so that two have one name.
      primary key (request_id, at)
    );
    create index failed_requests_by_age on failed_requests (at);
  `,
};
