// Requests and streams to this kubelet, over the socket of the nodelet command: it has the routes of port 10250 and
// trusts this process. Nothing of the client's credentials is passed on.
// Invariant: both ends of a stream end together.

import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { Upgrade } from "../../server/http/answer.js";
import { ApiError, badRequest, internalError } from "../objects/errors.js";

/** Headers that belong to one connection, or that carry the client's credentials. */
const NOT_FORWARDED = new Set([
  ...["connection", "keep-alive", "transfer-encoding", "content-length", "host", "authorization", "upgrade"],
  ...["proxy-authorization", "te", "trailer", "cookie"],
]);
const MOST_ERROR_TEXT = 10_000;
const MOST_TEXT = 32 * 1024 * 1024;

export interface Asked {
  method: string;
  /** With the query. */
  path: string;
  headers?: Readonly<Record<string, string | string[] | undefined>>;
  body?: Uint8Array;
  signal: AbortSignal;
}

/** @throws ApiError when the kubelet does not respond */
export async function askKubelet(
  socketPath: string,
  { method, path, headers = {}, body, signal }: Asked,
): Promise<IncomingMessage> {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith(":") && !NOT_FORWARDED.has(name));
  const sent = httpRequest({ socketPath, path, method, headers: Object.fromEntries(kept), signal, agent: false });
  sent.end(body);
  try {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    sent.on("error", () => response.destroy());
    return response;
  } catch (error) {
    throw internalError(`error dialing backend: ${messageOf(error)}`);
  }
}

export async function textOf(answer: IncomingMessage, most = MOST_TEXT): Promise<string> {
  let text = "";
  for await (const part of answer.setEncoding("utf8")) {
    text += String(part);
    if (text.length > most) break;
  }
  return text.slice(0, most);
}

/** The log of a container as it comes; a refusal of the kubelet becomes a Status. */
export async function streamLog(
  socketPath: string,
  path: string,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const answer = await askKubelet(socketPath, { method: "GET", path, signal });
  const { statusCode = 0 } = answer;
  if (statusCode !== 200) {
    const text = await textOf(answer, MOST_ERROR_TEXT);
    if (statusCode === 500) throw internalError(text);
    if (statusCode === 400) throw badRequest(text);
    throw new ApiError(statusCode, statusCode === 404 ? "NotFound" : "", text, {});
  }
  response.writeHead(200, { "content-type": "text/plain", "cache-control": "no-cache, private" });
  response.flushHeaders();
  await copy(answer, response);
}

/** Any request below nodes/<name>/proxy. */
export async function proxyRequest(socketPath: string, asked: Asked, response: ServerResponse): Promise<void> {
  const answer = await askKubelet(socketPath, asked);
  const kept = Object.entries(answer.headers).filter(([name]) => !NOT_FORWARDED.has(name));
  response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept) as Record<string, string>);
  response.flushHeaders();
  await copy(answer, response);
}

/** A client that leaves ends the kubelet's response, and the other way round. */
async function copy(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  await pipeline(answer, response).catch(() => undefined);
}

/** Passes an upgrade on as raw bytes, with all that follows it. */
export async function tunnel(
  socketPath: string,
  path: string,
  { method = "GET", rawHeaders }: Pick<IncomingMessage, "method" | "rawHeaders">,
  upgrade: Upgrade,
): Promise<void> {
  const { socket, head } = upgrade;
  const kubelet = connect(socketPath);
  try {
    await once(kubelet, "connect");
  } catch (error) {
    throw internalError(`error dialing backend: ${messageOf(error)}`);
  }
  const lines = [`${method} ${path} HTTP/1.1`, "Host: localhost"];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (!["host", "authorization", "cookie"].includes(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  upgrade.take();
  kubelet.write(`${lines.join("\r\n")}\r\n\r\n`);
  if (head.length > 0) kubelet.write(head);
  await joined(socket, kubelet);
}

/** The kubelet has the last word: what it sent reaches the client. A client that has left ends both directions. */
async function joined(client: Duplex, kubelet: Duplex): Promise<void> {
  await Promise.allSettled([pipeline(client, kubelet), pipeline(kubelet, client)]);
  client.destroy();
  kubelet.destroy();
}
