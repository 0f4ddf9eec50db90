/** Before and after: the line follows the slider. */
for (const box of document.querySelectorAll<HTMLElement>("[data-compare]")) {
  const slider = box.querySelector<HTMLInputElement>("input[type=range]");
  slider?.addEventListener("input", () => box.style.setProperty("--at", `${slider.value}%`));
}
