import { type DestinationStream, type Logger, type LoggerOptions, pino } from "pino";

export type Log = Logger;

/** PostgreSQL's errors quote the values of the statement, which are customers'. */
function withoutValues(error: Error): object {
  const { where: _where, detail: _detail, ...told } = pino.stdSerializers.err(error) as Record<string, unknown>;
  return told;
}

/** Structured log on stdout. Credentials and payment proofs are removed wherever they appear. */
export function createLog(service: string, level: string, destination?: DestinationStream): Log {
  const options: LoggerOptions = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: withoutValues },
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
  };
  return destination ? pino(options, destination) : pino(options);
}
