import { byId } from "../dom/elements.ts";

/** The account that is signed in on a page of an agent. */
export const accountHere = () => byId("agent")?.dataset.account;

/** By which name the tab keeps what only this account, or only a visitor without one, is to find again. */
export function ownName(agent: string): string {
  const account = accountHere();
  return account === undefined ? agent : `${agent} ${account}`;
}
