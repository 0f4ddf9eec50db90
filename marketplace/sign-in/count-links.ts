import { siteOf, siteShares } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import { mailboxOf } from "../accounts/users.ts";

/** Links that a mailbox is sent in a day for one address or network that asks. */
const perAskerDay = 5;
/** For all strangers together: what a mailbox may be filled with. */
const perStrangersDay = 30;
/** Browsers that signed in to the mailbox have so many more of their own, whatever strangers ask for. */
const perKnownDay = 10;
/** To all mailboxes together for one address or network that asks, which many people may share: more would cost the service its mail server. */
const perClientDay = 500;

/** All browsers that signed in to the mailbox before, as who asks; anybody else is an address or a network (`clientOf`). */
export const knownBrowser = "known browser";

/** Counts one more e-mail with a link, whatever the link is for. 429 past a day's; what is refused counts nothing. */
export async function countLink(db: Database, email: string, asker: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    // In one order, so that no two wait for each other.
    for (const [client, most] of clientsOf(asker)) await countFrom(tx, client, most);
    await countTo(tx, email, asker);
  });
}

/** Takes one back that no mail server took: a day's links are those that were sent. */
export async function uncountLink(db: Database, email: string, asker: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    await tx.query(
      "update links_from set links = links - 1 where client = any($1) and day = current_date and links > 0",
      [clientsOf(asker).map(([client]) => client)],
    );
    await tx.query(
      `with asked as (
         update asked_links set links = links - 1 where mailbox = $1 and asker = $2 and day = current_date and links > 0
         returning mailbox
       )
       update letters_sent set letters = letters - 1 from asked
       where address = asked.mailbox and day = current_date and letters > 0`,
      [mailboxOf(email), asker],
    );
  });
}

/** Who asks and their site, with what each may ask for in a day; nobody for browsers that signed in to the mailbox before. */
function clientsOf(asker: string): ReadonlyArray<readonly [client: string, most: number]> {
  if (asker === knownBrowser) return [];
  const site = siteOf(asker);
  return [[asker, perClientDay], ...(site === undefined ? [] : [[site, siteShares * perClientDay] as const])];
}

async function countFrom(tx: Transaction, client: string, most: number): Promise<void> {
  const { rowCount } = await tx.query(
    `insert into links_from as old (client) values ($1)
     on conflict (client, day) do update set links = old.links + 1 where old.links < $2`,
    [client, most],
  );
  if (rowCount !== 1) throw tooMany("Enough links were asked for from here today.");
}

async function countTo(tx: Transaction, email: string, asker: string): Promise<void> {
  const isKnown = asker === knownBrowser;
  const links = isKnown ? perKnownDay : perAskerDay;
  const letters = isKnown ? perStrangersDay + perKnownDay : perStrangersDay;
  const { rowCount } = await tx.query(
    `with asked as (
       insert into asked_links as old (mailbox, asker) values ($1, $2)
       on conflict (mailbox, asker, day) do update set links = old.links + 1 where old.links < $3
       returning mailbox
     )
     insert into letters_sent as sent (address) select mailbox from asked
     on conflict (address, day) do update set letters = sent.letters + 1 where sent.letters < $4`,
    [mailboxOf(email), asker, links, letters],
  );
  if (rowCount !== 1) throw tooMany("This address was sent enough links for today.");
}

const tooMany = (message: string) => new ApiError("rate_limited", message, { headers: { "retry-after": "3600" } });
