import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A mirror as it is, except for the answers that `edits` change: what a ledger can do that the local one cannot. */
export async function startEditingMirror(mirrorUrl: string): Promise<EditingMirror> {
  const edits = new Map<string, object>();
  const server = createServer(async (request, response) => {
    const answer = await fetch(mirrorUrl + request.url);
    const body = (await answer.json()) as object;
    const edit = edits.get(request.url!.split("?")[0]!);
    response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify({ ...body, ...edit }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, edits, close };
}

export interface EditingMirror {
  readonly url: string;
  /** Fields by path, such as `/api/v1/topics/0.0.1234`. */
  readonly edits: Map<string, object>;
  close(): Promise<void>;
}
