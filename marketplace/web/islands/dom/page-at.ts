/** A page of this site, parsed by the browser: no text becomes markup here. Undefined where it cannot be had. */
export function pageAt(address: string): Promise<Document | undefined> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.setRequestHeader("accept", "text/html");
    request.responseType = "document";
    request.timeout = 15_000;
    request.addEventListener("loadend", () => resolve(request.status === 200 ? request.response : undefined));
    request.send();
  });
}
