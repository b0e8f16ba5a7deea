// The first line of a request: "GET /healthz HTTP/1.1". Texts are byte strings (../bytes.ts).

import { quoteBytes } from "../bytes.js";
import { malformed, RefusedRequestError } from "./refusal.js";

export interface RequestLine {
  /** Any token: names of methods are case-sensitive, and servers may have their own. */
  readonly method: string;
  /** As the client wrote it. */
  readonly target: string;
  readonly major: number;
  readonly minor: number;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VERSION = /^HTTP\/([0-9])\.([0-9])$/;

/** @throws RefusedRequestError */
export function parseRequestLine(line: string): RequestLine {
  const first = line.indexOf(" ");
  const second = line.indexOf(" ", first + 1);
  if (first < 0 || second < 0) throw refused("malformed HTTP request", line);
  const [method, target, proto] = [line.slice(0, first), line.slice(first + 1, second), line.slice(second + 1)];
  if (!TOKEN.test(method)) throw refused("invalid method", method);
  const [, major = "", minor = ""] = VERSION.exec(proto) ?? [];
  if (major === "") throw refused("malformed HTTP version", proto);
  if (!mayBeTarget(target)) throw refused("malformed request target", target);
  return { method, target, major: Number(major), minor: Number(minor) };
}

/** Go parses the target before it reads a header. Faults that ../target.ts finds later get the same status. */
function mayBeTarget(target: string): boolean {
  if (target === "" || /[\x00-\x20\x7f]/.test(target)) return false;
  if (!target.startsWith("/")) return target === "*" || target.includes(":");
  return !target.includes("%") || !/^[^?]*%(?![0-9a-fA-F]{2})/.test(target);
}

function refused(what: string, text: string): RefusedRequestError {
  return new RefusedRequestError(malformed(`${what} ${quoteBytes(text)}`));
}
