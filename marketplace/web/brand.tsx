/** @jsxRuntime automatic @jsxImportSource preact */
/** What the service calls itself. */
export const siteName = "Agent Marketplace";

/** The mark's three rails, in a square of 24. pictures/icon.svg, the favicon, has them again. */
export const markRails = "M4.5 7.25h2.25c4.5 0 4 4.75 8.25 4.75M4.5 12H15M4.5 16.75h2.25c4.5 0 4-4.75 8.25-4.75";

/** Three rails that lead into one stop. */
export function Brand() {
  return (
    <>
      <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
        <rect width="24" height="24" rx="6.5" fill="currentColor" />
        <path class="mark-cut" d={markRails} />
        <circle class="mark-dot" cx="17.25" cy="12" r="2.75" />
      </svg>
      <span>{siteName}</span>
    </>
  );
}
