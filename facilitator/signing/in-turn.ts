/**
 * Looks for keys that are away, one after the other up to the first that stays away; the next round begins after that one. So a KMS
 * that is down is asked once a round, and when it is back all its keys are found in one.
 */
export function inTurn(keys: readonly MissedKey[]): () => Promise<void> {
  let first = 0;
  return async () => {
    for (const offset of keys.keys()) {
      const at = (first + offset) % keys.length;
      const key = keys[at] as MissedKey;
      if (key.isThere()) continue;
      await key.look();
      if (key.isThere()) continue;
      first = at + 1;
      return;
    }
  };
}

interface MissedKey {
  isThere(): boolean;
  /** Never throws. */
  look(): Promise<void>;
}
