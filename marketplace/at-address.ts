/**
 * SQL: whether an agent is at the address `handle/slug` that a parameter holds, in any state; also by a handle that its creator
 * had before, as those who call it know it.
 */
export function isAtAddress(agent: string, parameter: string): string {
  const part = (nth: 1 | 2) => `split_part(lower(${parameter}), '/', ${nth})`;
  const creator = `(select account_id from handles where handle = ${part(1)})`;
  return `(${agent}.account_id = ${creator} and lower(${agent}.slug) = ${part(2)})`;
}
