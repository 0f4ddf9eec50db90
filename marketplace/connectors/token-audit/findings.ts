/** What an audit found, worst first. */
export interface Finding {
  readonly id: string;
  readonly severity: Severity;
  readonly title: string;
}

export type Severity = keyof typeof weights;

const weights = { critical: 50, high: 25, medium: 12, low: 5, info: 0 } as const;

export const finding = (severity: Severity, id: string, title: string): Finding => ({ id, severity, title });

/** 100 less what the findings weigh, 0 at least. */
export function graded(findings: readonly Finding[]): { score: number; findings: Finding[] } {
  const weight = findings.reduce((sum, { severity }) => sum + weights[severity], 0);
  const sorted = findings.toSorted((a, b) => weights[b.severity] - weights[a.severity] || a.id.localeCompare(b.id));
  return { score: Math.max(0, 100 - weight), findings: sorted };
}
