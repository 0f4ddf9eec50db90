import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { mailboxOf } from "../accounts/users.ts";

/** Links that a mailbox is sent in a day for one address or network that asks. */
const perAskerDay = 5;
/** For all strangers together: what a mailbox may be filled with. */
const perStrangersDay = 30;
/** Browsers that signed in to the mailbox have so many more of their own, whatever strangers ask for. */
const perKnownDay = 10;

/** All browsers that signed in to the mailbox before, as who asks; anybody else is an address or a network (`clientOf`). */
export const knownBrowser = "known browser";

/** Counts one more e-mail with a link, whatever the link is for. 429 past a day's. */
export async function countLink(db: Queryable, email: string, asker: string): Promise<void> {
  const isKnown = asker === knownBrowser;
  const links = isKnown ? perKnownDay : perAskerDay;
  const letters = isKnown ? perStrangersDay + perKnownDay : perStrangersDay;
  const { rowCount } = await db.query(
    `with asked as (
       insert into asked_links as old (mailbox, asker) values ($1, $2)
       on conflict (mailbox, asker, day) do update set links = old.links + 1 where old.links < $3
       returning mailbox
     )
     insert into letters_sent as sent (address) select mailbox from asked
     on conflict (address, day) do update set letters = sent.letters + 1 where sent.letters < $4`,
    [mailboxOf(email), asker, links, letters],
  );
  if (rowCount === 1) return;
  throw new ApiError("rate_limited", "This address was sent enough links for today.", {
    headers: { "retry-after": "3600" },
  });
}

/** Takes one back that no mail server took: a day's links are those that were sent. */
export async function uncountLink(db: Queryable, email: string, asker: string): Promise<void> {
  await db.query(
    `with asked as (
       update asked_links set links = links - 1 where mailbox = $1 and asker = $2 and day = current_date and links > 0
       returning mailbox
     )
     update letters_sent set letters = letters - 1 from asked
     where address = asked.mailbox and day = current_date and letters > 0`,
    [mailboxOf(email), asker],
  );
}
