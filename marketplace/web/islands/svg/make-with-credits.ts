import { AskFailedError, ask, type Made } from "./ask.ts";
import type { Order } from "./bench.ts";
import { digestOf, findRequest, forgetRequest, type Kind, keepRequest } from "./kept-request.ts";
import { base64Of } from "./picture.ts";
import { pictureIn, type UnderWay } from "./under-way.ts";

/** Has it drawn for the account's credits, at the price shown or not at all. Throws AskFailedError. */
export async function makeWithCredits({ settings, picture }: Order, price: number, account: string): Promise<Made> {
  const asked = { ...settings, ...(picture && { image: await base64Of(picture.blob) }) };
  const of = await digestOf(asked);
  // One that was too large to be kept is known again by its digest.
  const kind = picture ? "trace" : "draw";
  const before = findRequest(account, kind);
  const isAgain = before?.of === of;
  // One whose connection was lost comes before any other one; one that was refused for now does not.
  const comesFirst = isAgain && before.body !== undefined;
  const name = isAgain ? before.name : crypto.randomUUID();
  const body = JSON.stringify({ ...asked, max_credits: price });
  keepRequest(account, kind, { name, of, body, ...(picture && { fileName: picture.name }) });
  return askByName({ account, kind, name, body }, isAgain).catch((error: unknown) => {
    if (comesFirst || !(error instanceof AskFailedError)) throw error;
    if (isAgain ? !error.saysNothingOfBefore : !error.mayHaveRun) throw error;
    // For an equal order alone: another one does not wait for it.
    keepRequest(account, kind, { name, of });
    throw error.asLost();
  });
}

/** What this tab asked for of the kind, and has no answer to: it comes before anything else is paid for. */
export function requestUnderWay(account: string, draws?: boolean): UnderWay | undefined {
  const kinds: readonly Kind[] = draws === undefined ? ["draw", "trace"] : [draws ? "draw" : "trace"];
  for (const kind of kinds) {
    const { name, body, fileName } = findRequest(account, kind) ?? {};
    if (name === undefined || body === undefined) continue;
    const { image, max_credits: _, ...settings } = JSON.parse(body) as { image?: string; max_credits: number };
    const finish = () => askByName({ account, kind, name, body }, true);
    return { draws: kind === "draw", settings, picture: pictureIn(image), fileName, finish };
  }
  return undefined;
}

interface Asked {
  readonly account: string;
  readonly kind: Kind;
  readonly name: string;
  readonly body: string;
}

async function askByName({ account, kind, name, body }: Asked, isAgain: boolean): Promise<Made> {
  try {
    const made = await ask(`/api/account/svg/${kind === "draw" ? "generate" : "vectorize"}`, body, name, account);
    forgetRequest(account, kind);
    return made;
  } catch (error) {
    if (!(error instanceof AskFailedError)) throw error;
    // A refusal that says nothing of the request before leaves it unknown what became of that one.
    if (error.isLost || (isAgain && error.saysNothingOfBefore)) throw error.asLost();
    forgetRequest(account, kind);
    throw error;
  }
}
