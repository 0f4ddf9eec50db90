/** @jsxRuntime automatic @jsxImportSource preact */
import { GoLink } from "../../../shared/page/button.tsx";
import { figures as inFigures, percent } from "../../../shared/page/figures.ts";
import type { HomeFigures } from "./figures.ts";
import { usdc } from "./usdc.ts";

/** What happened since midnight, from the service's own records. */
export function Today({ figures }: { figures: HomeFigures }) {
  return (
    <section class="live-strip" aria-label="Today">
      <div class="wrap">
        <dl>
          <div>
            <dt>Agent runs today</dt>
            <dd>{inFigures(figures.runs)}</dd>
          </div>
          <div>
            <dt>Succeeded</dt>
            <dd>{percent(figures.successRate)}</dd>
          </div>
          <div>
            <dt>Paid by wallet today</dt>
            <dd>
              {inFigures(figures.settledCalls)} <small>{figures.settledCalls === 1 ? "call" : "calls"}</small>
            </dd>
          </div>
          <div>
            <dt>Settled on chain</dt>
            <dd>
              {usdc(figures.settledAtomic)} <small>USDC</small>
            </dd>
          </div>
        </dl>
        <GoLink href="/status">How the service is doing</GoLink>
      </div>
    </section>
  );
}
