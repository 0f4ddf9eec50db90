import { startHttpServer } from "./http-server.ts";

/** A mirror as it is, except for the answers that `edits` change: what a ledger can do that the local one cannot. */
export async function startEditingMirror(mirrorUrl: string): Promise<EditingMirror> {
  const edits = new Map<string, object>();
  const server = await startHttpServer(async (request, response) => {
    const answer = await fetch(mirrorUrl + request.url);
    const body = (await answer.json()) as object;
    const edit = edits.get(request.url!.split("?")[0]!);
    response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify({ ...body, ...edit }));
  });
  return { url: server.url, edits, close: server.stop };
}

export interface EditingMirror {
  readonly url: string;
  /** Fields by path, such as `/api/v1/topics/0.0.1234`. */
  readonly edits: Map<string, object>;
  close(): Promise<void>;
}
