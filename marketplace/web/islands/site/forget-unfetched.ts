/** Payments that fetched nothing in a day (payment/unsigned.ts) are forgotten, with what was asked, by whichever page is opened next. */
export function forgetUnfetched(): void {
  try {
    for (const key of Object.keys(localStorage)) {
      const [, signedAt] = /^unfetched (\d+) /.exec(key) ?? [];
      if (Number(signedAt) < Date.now() - keptMs) localStorage.removeItem(key);
    }
  } catch {
    // Where nothing can be kept, nothing was.
  }
}

/** As in payment/unsigned.ts, which not every page loads. */
const keptMs = 24 * 3_600_000;
