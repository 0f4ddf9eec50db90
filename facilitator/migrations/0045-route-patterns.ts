import type { Migration } from "../../shared/migrate.ts";

/** A host's name may hold what means something else in a pattern, and one bad pattern would stop what all are counted with. */
export const routePatterns: Migration = {
  name: "0045-route-patterns",
  sql: `
    alter table discovery_resources drop column route_pattern;
    alter table discovery_resources
      add column route_pattern text generated always as (
        '^' || regexp_replace(left(resource, length(resource) - length(bazaar->>'routeTemplate')), '([^a-zA-Z0-9/:])', '\\\\\\1', 'g')
            || regexp_replace(replace(bazaar->>'routeTemplate', '.', '[.]'), '[^/]*:[^/]*', '[^/]+', 'g') || '$'
      ) stored;
  `,
};
