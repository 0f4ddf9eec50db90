/** How many elements a slow phone can lay out and paint without blocking the page. */
const atOnceMax = 40;

/**
 * What is below the first screen is laid out when the reader scrolls to it (`.later`), so that a slow phone shows the page
 * sooner. Once the page is there the rest is laid out all the same, some parts at a time: a picture of the whole page has all of it.
 */
export async function layOutRest(): Promise<void> {
  // Letters of another width would have everything laid out twice.
  await document.fonts.ready;
  let elements = atOnceMax;
  for (const part of document.querySelectorAll(".later")) {
    const own = part.getElementsByTagName("*").length;
    if (elements + own > atOnceMax) {
      await idleAfterFrame();
      elements = 0;
    }
    elements += own;
    part.classList.remove("later");
  }
}

/** The frame that draws what was changed before comes first: two steps together would block the page. */
function idleAfterFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: 500 });
      else setTimeout(resolve);
    });
  });
}
