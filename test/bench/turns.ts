import { type Figures, measure, median, poster } from "./load.ts";

const rounds = 3;

export interface Load {
  readonly path: "/verify" | "/settle";
  readonly count: number;
  readonly inFlight: number;
}

/** Posts payments to a facilitator and measures how long it takes to say that they are valid, or settled. */
export async function postPayments(
  url: string,
  payments: readonly string[],
  { path, inFlight }: Omit<Load, "count">,
): Promise<Figures> {
  const { post, close } = poster(url, inFlight);
  const isGood = (reply: Record<string, unknown>) => reply.isValid === true || reply.success === true;
  const figures = await measure(
    payments.map((payment) => () => post(path, payment, isGood)),
    inFlight,
  );
  await close();
  return figures;
}

/** Measures ours and the peer by turns; of each the middle of the rounds. */
export async function byTurns(
  ours: () => Promise<Figures>,
  peer: () => Promise<Figures>,
): Promise<{ readonly ours: Figures; readonly peer: Figures }> {
  const figures = { ours: [] as Figures[], peer: [] as Figures[] };
  for (let round = 0; round < rounds; round += 1) {
    figures.ours.push(await ours());
    figures.peer.push(await peer());
  }
  return { ours: median(figures.ours), peer: median(figures.peer) };
}

/** Of each service before anything is measured: until so many a settlement costs V8 half as much again, as it does after a start. */
export const warmingSettlements = 1_280;
