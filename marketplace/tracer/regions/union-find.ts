/** Follows a union-find chain to its root, halving the path on the way. */
export function find(parent: Int32Array, p: number): number {
  let at = p;
  for (let up = parent[at]; up !== at; up = parent[at]) {
    parent[at] = parent[up];
    at = parent[at];
  }
  return at;
}

/** `count` members, each a set of its own. */
export function eachAlone(count: number): Int32Array<ArrayBuffer> {
  const parent = new Int32Array(count);
  for (let p = 0; p < count; p++) parent[p] = p;
  return parent;
}

/** Joins the sets of two members; the lesser root stays one. */
export function unite(parent: Int32Array, p: number, q: number): void {
  const a = find(parent, p);
  const b = find(parent, q);
  if (a < b) parent[b] = a;
  else parent[a] = b;
}

/** Sets that know how many members they have. */
export interface SizedSets {
  readonly parent: Int32Array;
  /** By root. */
  readonly size: Int32Array;
}

/** Joins the sets of two roots; the root of both. */
export function join({ parent, size }: SizedSets, a: number, b: number): number {
  const root = Math.min(a, b);
  const leaf = Math.max(a, b);
  parent[leaf] = root;
  size[root] += size[leaf];
  return root;
}

/** Joins the sets of two members. */
export function joinMembers(sets: SizedSets, p: number, q: number): void {
  const a = find(sets.parent, p);
  const b = find(sets.parent, q);
  if (a !== b) join(sets, a, b);
}
