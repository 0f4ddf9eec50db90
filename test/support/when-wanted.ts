/** Scripts that no page loads by itself, by their names among the assets, and how heavy each may be: gzipped bytes. */
export const loadedWhenWanted = {
  "svg-tracer.js": 150_000,
  "pay-by-wallet.js": 15_000,
  "walletconnect-connection.js": 15_000,
  "sign-client": 150_000,
} as const;
