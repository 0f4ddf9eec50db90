/** `handle/slug` as an address has it. */
export function agentPath(agent: string): string {
  const parts = agent.split("/");
  if (parts.length !== 2 || parts.includes("")) throw new TypeError(`"${agent}" is not handle/slug.`);
  return parts.map(encodeURIComponent).join("/");
}
