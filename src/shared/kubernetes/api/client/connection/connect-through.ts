// An HTTP proxy's tunnel (RFC 9110, 9.3.6). Loaded only where there is a proxy.

import { request } from "node:http";
import type { Socket } from "node:net";
import { abortReason } from "../../../../base/errors/thrown.js";
import { bareHost, portOf } from "./address.js";
import { WireError } from "./wire-error.js";

/** Asks the proxy at the other end of `socket` for a tunnel to `server`; destroys the socket on failure. */
export function connectThrough(socket: Socket, proxy: URL, server: URL, signal: AbortSignal): Promise<Socket> {
  const host = bareHost(server);
  const target = `${host.includes(":") ? `[${host}]` : host}:${portOf(server)}`;
  return new Promise((resolve, reject) => {
    const ask = request({
      method: "CONNECT",
      path: target,
      headers: { host: target, ...authorization(proxy) },
      createConnection: () => socket,
    });
    const settle = (act: () => void): void => {
      signal.removeEventListener("abort", onAbort);
      act();
    };
    const fail = (error: Error): void => {
      settle(() => {
        socket.destroy();
        reject(error);
      });
    };
    const onAbort = (): void => fail(abortReason(signal));
    ask.on("error", fail);
    ask.on("response", ({ statusCode }) => fail(refusal(proxy, target, statusCode)));
    ask.on("connect", ({ statusCode = 0 }, tunnel, head) => {
      if (statusCode < 200 || statusCode >= 300) {
        fail(refusal(proxy, target, statusCode));
        return;
      }
      if (head.length > 0) tunnel.unshift(head);
      settle(() => resolve(tunnel));
    });
    signal.addEventListener("abort", onAbort, { once: true });
    ask.end();
  });
}

function refusal(proxy: URL, target: string, status = 0): WireError {
  return new WireError(`the proxy ${proxy.host} responded ${status} to a CONNECT request for ${target}`);
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === "") return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}
