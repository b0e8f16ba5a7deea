// A GET at the authenticated port of a whole node, which opens a moment after the kubelet's start.

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { waitFor, type TestNode } from "../harness/node.js";

export interface SecureAnswer {
  status: number;
  body: string;
}

export async function secureAsk(
  node: Pick<TestNode, "kubelet">,
  path: string,
  method = "GET",
  headers: Record<string, string> = {},
): Promise<SecureAnswer> {
  const response = await secureOpen(node, path, method, headers);
  let body = "";
  for await (const part of response.setEncoding("utf8")) body += part as string;
  return { status: response.statusCode ?? 0, body };
}

/** With the body still to come. */
export async function secureOpen(
  node: Pick<TestNode, "kubelet">,
  path: string,
  method = "GET",
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const url = `${node.kubelet.secureUrl}${path}`;
  const sent = request(url, { method, headers, agent: false, rejectUnauthorized: false }).end();
  return ((await once(sent, "response")) as [IncomingMessage])[0];
}

export async function waitSecure(node: Pick<TestNode, "kubelet">): Promise<void> {
  await waitFor(async () => (await secureAsk(node, "/healthz").catch(() => undefined))?.status === 200, {
    what: "the authenticated port to be open",
  });
}
