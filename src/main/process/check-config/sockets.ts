// Sockets of programs that the kubelet calls.

import { warning, type Finding } from "./finding.js";
import { stateOf } from "./paths.js";

/** A missing socket is no fault of the configuration: the kubelet waits for its runtime. */
export async function socketFindings(path: string, endpoint: string): Promise<Finding[]> {
  const socket = /^(?:unix:\/\/)?(\/.*)$/.exec(endpoint)?.[1];
  if (socket === undefined) return [];
  const state = await stateOf(socket);
  if (typeof state === "string" || state.isSocket()) return [];
  return [warning(path, `${socket} is no socket: no pod runs; name the socket of the runtime`)];
}
