import { type Logger, pino } from "pino";

export type Log = Logger;

/** Structured log on stdout. Credentials and payment proofs are removed wherever they appear. */
export function createLog(service: string, level: string): Log {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: [
        "*.authorization",
        "*.cookie",
        "*.headers.authorization",
        "req.headers",
        "*.privateKey",
        "*.apiKey",
        "*.paymentPayload",
        "*.rawTransaction",
      ],
      censor: "[secret]",
    },
  });
}
