// The head that Node's parser gets in the place of the client's. Invariant: it has one meaning for every parser: full
// line ends, no folds, one field at most for the length, the coding and the connection. Method and target stand for
// others, which the parser need not know.

import type { WholeHead } from "./request-head.js";

/** A byte string. `upgrades`: an upgrade is passed on. */
export function requestText({ head, fields }: WholeHead, upgrades: boolean): string {
  const { method, version, host, framing, closes, upgrade } = head;
  // The method decides only whether the response has a body.
  let text = `${method === "HEAD" ? "HEAD" : "POST"} / HTTP/${version}\r\n`;
  if (host !== undefined) text += `Host: ${host}\r\n`;
  for (const [name, value] of fields) text += `${name}: ${value}\r\n`;
  if (framing.kind === "length") text += `Content-Length: ${framing.digits}\r\n`;
  else if (framing.kind === "chunked") text += "Transfer-Encoding: chunked\r\n";
  if (upgrades && upgrade !== undefined) text += `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n`;
  else if (closes) text += "Connection: close\r\n";
  else if (version === "1.0") text += "Connection: keep-alive\r\n";
  return `${text}\r\n`;
}

/** Stands for a request that is refused: its response takes its turn behind those of earlier requests. */
export const REFUSED_TEXT = "POST / HTTP/1.1\r\nHost: refused\r\nConnection: close\r\n\r\n";
