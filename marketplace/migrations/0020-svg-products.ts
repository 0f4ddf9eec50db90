import type { Migration } from "../../shared/migrate.ts";

/**
 * What the platform makes itself is booked like everything else: as agents of the platform's own account, which are
 * never live, so that no list shows them or runs them by address.
 */
export const svgProducts: Migration = {
  name: "0020-svg-products",
  sql: `
    insert into accounts (id, handle) values ('acc_platform', 'platform');
    insert into balances (account_id) values ('acc_platform') on conflict do nothing;
    insert into agents (id, account_id, handle, slug, tool_name) values
      ('agt_svg_vectorize', 'acc_platform', 'platform', 'svg-vectorize', 'svg_vectorize'),
      ('agt_svg_generate', 'acc_platform', 'platform', 'svg-generate', 'svg_generate'),
      ('agt_svg_generate_hd', 'acc_platform', 'platform', 'svg-generate-hd', 'svg_generate_hd');
  `,
};
