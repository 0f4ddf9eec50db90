/** @jsxRuntime automatic @jsxImportSource preact */
import { Rail, type Stop } from "../../../shared/page/rail.tsx";
import type { SettledCall } from "./figures.ts";
import { SettledTable } from "./settled-table.tsx";

const stops: readonly Stop[] = [
  { name: "Quoted", state: "done", say: "the price is locked" },
  { name: "Signed", state: "done", say: "by the buyer’s wallet" },
  { name: "Verified", state: "done", say: "nothing moved yet" },
  { name: "Ran", state: "done", say: "the result is kept" },
  { name: "Claimed", state: "done", say: "only one may send it" },
  { name: "Broadcast", state: "done", say: "bytes stored first" },
  { name: "Settled", state: "end", say: "paid to the creator" },
];

/** The stops of every paid call, and the last ones that passed them all. */
export function SettledSection({ latest }: { latest: readonly SettledCall[] }) {
  return (
    <section class="section later">
      <div class="wrap stack stack-10">
        <div class="section-head">
          <div>
            <h2>You can watch the money arrive</h2>
            <p>
              Every paid call passes these stops. Its end is looked up on the chain, never guessed, and a call that
              fails on the way there is not settled.
            </p>
          </div>
        </div>
        <Rail stops={stops} />
        {latest.length > 0 && <Latest calls={latest} />}
        <Promises />
      </div>
    </section>
  );
}

function Latest({ calls }: { calls: readonly SettledCall[] }) {
  return (
    <div class="card">
      <div class="card-head">
        <h3>Settled last</h3>
      </div>
      <SettledTable label="The calls that were settled last" calls={calls} />
    </div>
  );
}

const promises = [
  ["Amounts are exact", "What was quoted is what is signed, and what is signed is what is settled. To the last unit."],
  [
    "One payment, one result",
    "Settled once, however often and wherever it is posted. A lost answer is had by the same payment; a result is handed out once.",
  ],
  [
    "Unknown is not failed",
    "While the end of a payment is not known, that is what it says, with the moment until which it can still land.",
  ],
  ["A failed run is free", "Credits are released. A signed payment is not settled. You see which, and why."],
] as const;

function Promises() {
  return (
    <div class="promises">
      {promises.map(([title, text]) => (
        <div>
          <h3>{title}</h3>
          <p>{text}</p>
        </div>
      ))}
    </div>
  );
}
