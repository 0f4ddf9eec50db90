import type { Outbound } from "../../shared/outbound.ts";
import type { Problem } from "../parse.ts";

/** What keeps an agent from calling this address, which its setting `url` names. */
export function hostProblems(outbound: Pick<Outbound, "check">, url: string): Problem[] {
  try {
    outbound.check(url);
    return [];
  } catch {
    return [
      { path: ["url"], message: "leads to a host that agents may not call: it must be a public http or https address" },
    ];
  }
}
