// Each case of test/facts/http-server.jsonl: raw bytes of a client, and what Go 1.26's net/http with upstream's routes
// answered. The same bytes to this kubelet's ports get the same responses. Where it differs on purpose, `DIFFERENCES`
// says how and why.

import { equal } from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { GoPorts, type Case, type RecordedPortName, type Response, type Result } from "./go-server-kit.js";

/** Cases at once. Of unauthorised connections over TLS, new ones come before those that have used processor time. */
const LANES: Readonly<Record<RecordedPortName, number>> = { readonly: 6, secure: 2, notls: 2 };
/**
 * A handshake takes longer than all the rest. Of the cases that both ports answer alike, the authenticated one gets
 * each nth.
 */
const SAMPLE = 4;

interface Difference {
  readonly why: string;
  readonly differs: (one: Case, port: RecordedPortName) => boolean;
  /** Status of the response in question; "end": the connection ends instead. */
  readonly status: number | "end";
}

const textOf = ({ send }: Case): string => send.map((part) => (typeof part === "string" ? part : part[0])).join("");
const targetOf = (one: Case): string => textOf(one).split(/[ \n]/)[1] ?? "";
const hasBody = (one: Case): boolean => /\n(?:content-length|transfer-encoding):/i.test(textOf(one));

/** The answer in place of a recorded response. */
const DIFFERENCES: readonly Difference[] = [
  {
    why: "a target that is no path of this server is refused before anything authorises it (docs/adr/0073)",
    differs: (one) => targetOf(one).includes("#") || !targetOf(one).startsWith("/"),
    status: 400,
  },
  {
    why: "a port without authentication answers over loopback only to this machine's names (docs/adr/0063)",
    differs: (_, port) => port === "readonly",
    status: 421,
  },
  {
    why: "a request whose length is uncertain is the last one of its connection, as RFC 9112 (6.1) asks for",
    differs: (one) => /transfer-encoding/i.test(textOf(one)) && /content-length|HTTP\/1\.0/i.test(textOf(one)),
    status: "end",
  },
  {
    why: "the authenticated port does not wait for the rest of a body",
    differs: (one, port) => port === "secure" && hasBody(one),
    status: "end",
  },
  {
    why: "no name in a path is empty, be the slashes escaped or not",
    differs: (one) => /%2f/i.test(targetOf(one)),
    status: 404,
  },
  {
    why: "profiles have an index",
    differs: (one) => targetOf(one) === "/debug/pprof/" && textOf(one).startsWith("GET "),
    status: 200,
  },
  {
    why: "the path of that index is known, and other methods are not",
    differs: (one) => targetOf(one) === "/debug/pprof/",
    status: 405,
  },
];

describe("requests as Go's server answers them", () => {
  let cases: Case[] = [];
  let ports: GoPorts;
  before(async () => {
    const text = await readFile("test/facts/http-server.jsonl", "utf8");
    cases = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Case);
    ports = await GoPorts.open();
  });
  after(() => ports.close());

  for (const port of ["readonly", "secure", "notls"] as const) {
    test(`every case on the port ${port}`, async () => {
      const wrong: string[] = [];
      const mine = cases
        .filter(({ results }) => resultOf(results, port) !== undefined)
        .filter(({ results }, at) => port !== "secure" || results.any === undefined || at % SAMPLE === 0);
      const lanes = LANES[port];
      await Promise.all(
        Array.from({ length: lanes }, async (_, lane) => {
          for (const one of mine.filter((_case, at) => at % lanes === lane)) {
            const difference = await compared(ports, port, one);
            if (difference !== undefined) wrong.push(`${one.name}\n${difference}`);
          }
        }),
      );
      equal(wrong.length, 0, `${wrong.length} of ${mine.length} differ:\n${wrong.join("\n")}`);
    });
  }
});

function resultOf(results: Case["results"], port: RecordedPortName): Result | undefined {
  return results[port] ?? (port === "notls" ? undefined : results.any);
}

async function compared(ports: GoPorts, port: RecordedPortName, one: Case): Promise<string | undefined> {
  const recorded = resultOf(one.results, port);
  if (recorded === undefined) return undefined;
  const got = await ports.ask(port, one, recorded);
  const mayDiffer = (status: number | "end"): boolean =>
    DIFFERENCES.some((each) => each.status === status && each.differs(one, port));
  if (isEqual(recorded, got, mayDiffer)) return undefined;
  return `  upstream ${JSON.stringify(recorded)}\n  here     ${JSON.stringify(got)}`;
}

function isEqual(recorded: Result, got: Result, mayDiffer: (status: number | "end") => boolean): boolean {
  if (got.open === true && recorded.open !== true) return false;
  const isShorter = got.open !== true && got.responses.length > 0 && got.responses.length < recorded.responses.length;
  if (got.responses.length !== recorded.responses.length && !(isShorter && mayDiffer("end"))) return false;
  return got.responses.every((one, at) => {
    const wanted = recorded.responses[at];
    return wanted !== undefined && (shownOf(one) === shownOf(wanted) || mayDiffer(statusOf(one)));
  });
}

const statusOf = ({ line }: Response): number => Number(line.split(" ")[1]);

function shownOf({ line, location = "", body = "" }: Response): string {
  // Bodies of handlers are theirs.
  return JSON.stringify([line, location, /^HTTP\/1\.[01] (?:400|417|431|501|505|307) /.test(line) ? body : ""]);
}
