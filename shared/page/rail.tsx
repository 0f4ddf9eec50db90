/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { type StopState, spokenStates } from "./stop-states.ts";

export interface Stop {
  readonly name: string;
  readonly state: StopState;
  /** When, or how long it took. */
  readonly time?: string | undefined;
  readonly say?: ComponentChildren;
}

/** The stops that a payment has passed. It lies down where there is room. */
export function Rail({ stops, flat = true }: { stops: readonly Stop[]; flat?: boolean }) {
  return (
    <div class="rail-box">
      <ol class={flat ? "rail rail-h" : "rail"}>
        {stops.map(({ name, state, time, say }) => (
          <li class={state === "ahead" ? undefined : `is-${state}`}>
            <i aria-hidden="true" />
            <b>{name}</b>
            {time && <time>{time}</time>}
            {say && <span class="rail-say">{say}</span>}
            <span class="vh">{spokenStates[state]}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
