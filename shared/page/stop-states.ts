/** `maybe`: how it ended was not seen yet. `end`: the last stop, reached. */
export type StopState = "ahead" | "now" | "done" | "end" | "bad" | "maybe";

/** What a screen reader says of a stop. */
export const spokenStates: Readonly<Record<StopState, string>> = {
  ahead: "not yet",
  now: "now",
  done: "done",
  end: "done",
  bad: "failed",
  maybe: "not known yet",
};
