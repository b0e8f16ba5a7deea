// Requests to a kubelet's admin socket, for `npm start`, tests and benchmarks.

import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { adminSocketOf } from "../../src/shared/contracts/nodelet.js";

/** Longer than a busy machine delays a response. */
export const REQUEST_TIMEOUT_MS = 20_000;

/** The body of the answer of the kubelet with that root directory. Rejects when it is not 200, or does not come. */
export async function askKubelet(rootDir: string, method: "GET" | "DELETE", path: string): Promise<string> {
  const socketPath = adminSocketOf(rootDir);
  const headers = { host: "localhost" };
  const sent = request({ socketPath, method, path, headers, timeout: REQUEST_TIMEOUT_MS });
  sent.once("timeout", () => sent.destroy(new Error(`${socketPath} did not answer within ${REQUEST_TIMEOUT_MS} ms`)));
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const part of response.setEncoding("utf8")) text += part as string;
  if (response.statusCode === 200) return text;
  throw new Error(`${socketPath} answered ${method} ${path} with ${String(response.statusCode)}: ${text.trim()}`);
}
