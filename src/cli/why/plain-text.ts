// Texts of runtimes, plugins and gRPC, without the words that only their developers need. Pure.

import { CRI_CODES } from "../../shared/kubernetes/cri/errors.js";

const DEBRIS: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/rpc error: code = \w+ desc = /g, ""],
  // grpc-js repeats the status as a number and a name.
  [new RegExp(`(^|: )\\d+ (?:${CRI_CODES.join("|")}): `, "g"), "$1"],
  [
    /CRI (\w+)(?: of (?:container|sandbox|image|pod) \S+(?: of \w+ \S+)?)? (?:recv )?failed at \S+: [A-Z_]+: /g,
    "$1 failed: ",
  ],
  [
    /,? ?(?:LB pick: [\d.]+m?s|Waiting for LB pick|remote_addr=[^\s,;]+|name resolution: [\d.]+m?s|metadata filters: [\d.]+m?s)/g,
    "",
  ],
  // One program calls the next; only the last one knows the cause.
  [
    /(?:failed to (?:start|create) containerd (?:container|task)[^:]*: )?(?:failed to create shim task: )?(?:failed to create task for container: )?OCI runtime create failed: (?:runc create failed: )?/g,
    "",
  ],
  [/(\S): unknown(?=$|[\s:;,.)])/g, "$1"],
];

export function plainText(text: string): string {
  const plain = DEBRIS.reduce((part, [pattern, by]) => part.replace(pattern, by), text);
  return withoutRepeat(plain);
}

/** "a: b: c: b: c" says b and c once. */
function withoutRepeat(text: string): string {
  const parts = text.split(": ");
  for (let length = Math.floor(parts.length / 2); length > 0; length--) {
    const [end, before] = [parts.slice(-length).join(": "), parts.slice(-2 * length, -length).join(": ")];
    if (end === before) return parts.slice(0, -length).join(": ");
  }
  return text;
}
