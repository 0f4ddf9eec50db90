import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/**
 * Ends the parsing of what was read of a connection that is to be closed. Node would go on to make a request and a response of
 * each that is in there, and a buffer of each chunk of a body, thousands in one turn of the event loop; it offers no public way to
 * have it stop.
 */
export function stopParsing(socket: Socket): void {
  const { parser } = socket as ParsedSocket;
  if (!parser) return;
  parser.onIncoming = (request) => {
    Object.assign(request, { upgrade: false });
    return upgrade;
  };
  const { kOnBody } = parser.constructor;
  const onBody = parser[kOnBody];
  if (!onBody) return;
  parser[kOnBody] = null;
  // Before Node gives the parser to another connection.
  socket.prependOnceListener("close", () => {
    parser[kOnBody] = onBody;
  });
}

type ParsedSocket = Socket & { readonly parser?: Parser | null };

interface Parser {
  readonly constructor: { readonly kOnBody: number };
  onIncoming: (request: IncomingMessage) => number;
  [callback: number]: unknown;
}

/** What Node's parser takes as: what follows is of another protocol. It leaves the rest alone. */
const upgrade = 2;
