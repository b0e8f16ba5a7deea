// The fields of a request. Those that depend on its method alone are encoded once.

import type { Metadata } from "@grpc/grpc-js";
import { indexed, literal } from "./hpack/encode.js";

/** Indexes of HPACK's static table. */
const AUTHORITY = 1;
const METHOD_POST = 3;
const PATH = 4;
const SCHEME_HTTP = 6;
const CONTENT_TYPE = 31;
const USER_AGENT = 58;

/** Set by the channel; metadata that has them is a mistake of the caller. */
const OWN = new Set(["content-type", "te", "user-agent", "grpc-timeout", "host", "connection"]);

/** Methods of a connection; CRI has 43. */
const METHODS_KEPT = 256;

export class RequestFields {
  readonly #ofMethods = new Map<string, Buffer>();

  /**
   * @param path "/runtime.v1.RuntimeService/Version"
   * @param timeoutMs undefined for a call without a deadline
   */
  encode(path: string, timeoutMs: number | undefined, metadata: Metadata): Buffer {
    const parts = [this.#ofMethod(path)];
    if (timeoutMs !== undefined) parts.push(literal("grpc-timeout", timeoutText(timeoutMs)));
    for (const [name, values] of Object.entries(metadata.toHttp2Headers())) {
      if (OWN.has(name) || values === undefined) continue;
      for (const value of Array.isArray(values) ? values : [values]) parts.push(literal(name, String(value)));
    }
    return parts.length === 1 ? this.#ofMethod(path) : Buffer.concat(parts);
  }

  #ofMethod(path: string): Buffer {
    let fields = this.#ofMethods.get(path);
    if (fields !== undefined) return fields;
    fields = Buffer.concat([
      indexed(METHOD_POST),
      indexed(SCHEME_HTTP),
      literal(PATH, path),
      literal(AUTHORITY, "localhost"),
      literal(CONTENT_TYPE, "application/grpc"),
      literal("te", "trailers"),
      literal(USER_AGENT, "nodelet"),
    ]);
    if (this.#ofMethods.size < METHODS_KEPT) this.#ofMethods.set(path, fields);
    return fields;
  }
}

const UNITS: readonly [unit: string, ms: number][] = [
  ["m", 1],
  ["S", 1000],
  ["M", 60_000],
  ["H", 3_600_000],
];

/** At most eight digits and a unit. More than eleven thousand years are as good as those. */
function timeoutText(ms: number): string {
  for (const [unit, size] of UNITS) {
    const amount = Math.ceil(Math.max(0, ms) / size);
    if (amount < 1e8) return `${amount}${unit}`;
  }
  return "99999999H";
}
