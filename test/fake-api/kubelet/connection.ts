// Requests and streams of the API server to a kubelet: with its own client certificate, never with the client's
// credentials. The serving certificate is not verified, as in a cluster without --kubelet-certificate-authority.
// Invariant: both ends of a stream end together.

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { connect } from "node:tls";
import { ApiError, badRequest, internalError } from "../../../src/workers/apiserver/objects/errors.js";
import type { ApiRequest } from "../server/body.js";
import type { ApiResponse } from "../server/reply.js";
import type { World } from "../world.js";
import type { Location } from "./location.js";

const IDENTITY = { name: "kube-apiserver-kubelet-client", groups: ["system:masters"] };
/** Headers that belong to one connection, or that carry the client's credentials. */
const NOT_FORWARDED = ["connection", "keep-alive", "transfer-encoding", "content-length", "host", "authorization"];
const MOST_ERROR_TEXT = 10_000;

interface Forwarded {
  method: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
  signal: AbortSignal;
}

/** Sends one request and gives the kubelet's response as it comes. */
async function askKubelet(world: World, { host, port, path }: Location, ask: Forwarded): Promise<IncomingMessage> {
  const { cert, key } = world.authority.clientCertificate(IDENTITY.name, IDENTITY.groups);
  const kept = Object.entries(ask.headers).filter(([name]) => !name.startsWith(":") && !NOT_FORWARDED.includes(name));
  const sent = httpsRequest({
    ...{ host, port, path, cert, key, agent: false, rejectUnauthorized: false },
    ...{ method: ask.method, headers: Object.fromEntries(kept), signal: ask.signal },
  });
  sent.end(ask.body);
  try {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return response;
  } catch (error) {
    throw internalError(`error dialing backend: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * The log of a container: text as it comes; a refusal of the kubelet becomes a Status. Gives the code and the bytes
 * sent.
 */
export async function streamLog(
  world: World,
  location: Location,
  response: ApiResponse,
  signal: AbortSignal,
): Promise<void> {
  const answer = await askKubelet(world, location, { method: "GET", headers: {}, body: Buffer.alloc(0), signal });
  const { statusCode = 0 } = answer;
  if (statusCode < 200 || statusCode > 206) {
    let text = "";
    for await (const part of answer.setEncoding("utf8")) text = `${text}${String(part)}`.slice(0, MOST_ERROR_TEXT);
    if (statusCode === 500) throw internalError(text);
    if (statusCode === 400) throw badRequest(text);
    throw new ApiError(statusCode, statusCode === 404 ? "NotFound" : "", text, {});
  }
  open(response, 200, { "content-type": "text/plain", "cache-control": "no-cache, private" });
  await copy(answer, response);
}

/** Any request below nodes/<name>/proxy. */
export async function proxyRequest(
  world: World,
  location: Location,
  request: ApiRequest,
  { response, body, signal }: { response: ApiResponse; body: Buffer; signal: AbortSignal },
): Promise<number> {
  const { method = "GET", headers } = request;
  const answer = await askKubelet(world, location, { method, headers, body, signal });
  const kept = Object.entries(answer.headers).filter(([name]) => !NOT_FORWARDED.includes(name) && name !== "upgrade");
  open(response, answer.statusCode ?? 502, Object.fromEntries(kept));
  await copy(answer, response);
  return answer.statusCode ?? 502;
}

function open(response: ApiResponse, code: number, headers: Record<string, string | string[] | undefined>): void {
  // The two classes have the same methods, under types that do not unite.
  const out = response as ServerResponse;
  out.writeHead(code, headers as Record<string, string>);
  out.flushHeaders();
}

async function copy(answer: IncomingMessage, response: ApiResponse): Promise<void> {
  // A client that leaves ends the kubelet's response, and the other way round.
  await pipeline(answer, response as ServerResponse).catch(() => undefined);
}

/** Passes an upgrade on as raw bytes, with all that follows it. */
export async function tunnel(
  world: World,
  { host, port, path }: Location,
  request: IncomingMessage,
  client: { socket: Duplex; head: Buffer },
): Promise<void> {
  const { cert, key } = world.authority.clientCertificate(IDENTITY.name, IDENTITY.groups);
  const kubelet = connect({ host, port, cert, key, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
  try {
    await once(kubelet, "secureConnect");
  } catch (error) {
    throw internalError(`error dialing backend: ${error instanceof Error ? error.message : String(error)}`);
  }
  const lines = [`${request.method ?? "GET"} ${path} HTTP/1.1`, `Host: ${host}:${port}`];
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    const [name = "", value = ""] = request.rawHeaders.slice(at, at + 2);
    if (!["host", "authorization"].includes(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  kubelet.write(`${lines.join("\r\n")}\r\n\r\n`);
  if (client.head.length > 0) kubelet.write(client.head);
  client.socket.on("error", () => kubelet.destroy()).once("close", () => kubelet.destroy());
  kubelet.on("error", () => undefined);
  client.socket.pipe(kubelet);
  // The kubelet has the last word: what it sent reaches the client before the client's connection ends.
  kubelet.pipe(client.socket);
  await once(kubelet, "close");
  if (!client.socket.destroyed) await finished(client.socket.end(), { readable: false }).catch(() => undefined);
  client.socket.destroy();
}
