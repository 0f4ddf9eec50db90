import type { Page } from "../page.ts";

/** Leads to what was looked for: a transaction, an account, or resources. */
export function findPage(): Page {
  return {
    path: "/find",
    scriptBytesMax: 2_048,
    show: ({ query, env }) => {
      const asked = [...(query.get("q") ?? "").trim()].slice(0, 512).join("");
      const of = (path: string) => ({ redirect: `${path}${path.includes("?") ? "&" : "?"}env=${env}` });
      const text = encodeURIComponent(asked);
      if (/^0x[0-9a-fA-F]{64}$/.test(asked) || /^0\.0\.\d+[@-]\d+[.-]\d+$/.test(asked)) return of(`/tx/${text}`);
      if (/^0x[0-9a-fA-F]{40}$/.test(asked) || /^0\.0\.\d+$/.test(asked)) return of(`/payers/${text}`);
      return asked === "" ? of("/transactions") : of(`/resources?q=${text}`);
    },
  };
}
