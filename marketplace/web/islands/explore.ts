/**
 * Search while the visitor types: the page of the new address is fetched, and its list replaces this one. A request that a newer
 * one overtakes is aborted; the address follows, so that "back", a reload and a link show the same.
 */
const form = document.getElementById("explore");
if (form instanceof HTMLFormElement) searchAsTyped(form);
closeFiltersByEscape();

const typingPauseMs = 180;

function searchAsTyped(form: HTMLFormElement): void {
  let asked: XMLHttpRequest | undefined;
  let timer = 0;
  const search = (tells: boolean) => {
    window.clearTimeout(timer);
    asked?.abort();
    if (!(tells ? form.reportValidity() : form.checkValidity())) return;
    const address = addressOf(form);
    if (address === window.location.pathname + window.location.search) return;
    asked = ask(address);
  };
  const controls = [...form.elements].filter((control) => control.hasAttribute("name"));
  for (const control of controls) {
    const isTyped = control instanceof HTMLInputElement && /^(search|number)$/.test(control.type);
    control.addEventListener(isTyped ? "input" : "change", () => {
      window.clearTimeout(timer);
      // Its answer would put an order that was just chosen back.
      asked?.abort();
      timer = window.setTimeout(() => search(!isTyped), isTyped ? typingPauseMs : 0);
    });
  }
  form.addEventListener("submit", (event) => {
    if (!form.checkValidity()) return;
    event.preventDefault();
    search(true);
    closeFilters();
  });
}

/** The address of the search, without empty fields: short enough to be shared. */
function addressOf(form: HTMLFormElement): string {
  const given = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    const text = String(value).trim();
    if (text === "") continue;
    given.set(name, given.has(name) ? `${given.get(name)},${text}` : text);
  }
  const query = String(given);
  return form.action.replace(window.location.origin, "") + (query === "" ? "" : `?${query}`);
}

/** The browser parses the answer as a document: no text becomes markup in this page. */
function ask(address: string): XMLHttpRequest {
  const request = new XMLHttpRequest();
  const found = document.getElementById("found");
  found?.setAttribute("aria-busy", "true");
  request.open("GET", address);
  request.setRequestHeader("accept", "text/html");
  request.responseType = "document";
  request.addEventListener("load", () => {
    const page: Document | null = request.response;
    if (!page || !show(page)) return window.location.assign(address);
    // The sheet of filters stays open: its address is the part behind "#".
    window.history.replaceState(null, "", address + window.location.hash);
  });
  // Where it fails, the old list stays, and the form can still be sent.
  request.addEventListener("loadend", () => found?.removeAttribute("aria-busy"));
  request.send();
  return request;
}

function show(page: Document): boolean {
  const parts = ["#found-line", "#found", "[data-found]"].map((part) => {
    return { here: document.querySelector(part), there: page.querySelector(part) };
  });
  if (parts.some(({ here, there }) => !here || !there)) return false;
  for (const part of page.querySelectorAll(".later")) part.classList.remove("later");
  for (const { here, there } of parts) here?.replaceChildren(...(there?.childNodes ?? []));
  showOrders(page);
  // The figures beside filters are of all agents: they are shown while the list is not narrowed.
  const isNarrowed = page.querySelector("#filters.is-narrowed") !== null;
  document.getElementById("filters")?.classList.toggle("is-narrowed", isNarrowed);
  document.title = page.title;
  return true;
}

/** Which orders there are hangs on whether there are words. */
function showOrders(page: Document): void {
  const here = document.querySelector<HTMLSelectElement>("[name=sort]");
  const there = page.querySelector<HTMLSelectElement>("[name=sort]");
  if (!here || !there) return;
  const { value } = there;
  here.replaceChildren(...there.childNodes);
  // Options that are moved choose anew.
  here.value = value;
}

/** The sheet of filters is open while the address names it. */
function closeFiltersByEscape(): void {
  const sheet = document.getElementById("filters");
  const isOpen = () => window.location.hash === "#filters";
  window.addEventListener("hashchange", () => {
    if (isOpen()) sheet?.querySelector<HTMLElement>("[data-close-filters]")?.focus();
    else document.querySelector<HTMLElement>("a[href='#filters']")?.focus();
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && isOpen()) closeFilters();
  });
  sheet?.addEventListener("click", (event) => {
    const leaves = event.target instanceof Element && event.target.closest("a[href='#main']");
    if (!leaves) return;
    event.preventDefault();
    closeFilters();
  });
}

function closeFilters(): void {
  if (window.location.hash !== "#filters") return;
  window.location.hash = "";
  window.history.replaceState(null, "", window.location.pathname + window.location.search);
}
