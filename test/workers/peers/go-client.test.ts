// Each case of test/facts/http-client.jsonl: what a server sends, and what upstream's prober, on Go's net/http, made of
// it. The same bytes through the peers thread's actions give the same requests and the same result.
// @headline Probes and hooks | Probes read responses as Go does. | every recorded exchange

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { before, describe, test, type TestContext } from "node:test";
import { messageOf } from "../../../src/shared/base/errors/thrown.js";
import { requestOf } from "../../../src/shared/io/http/client/get-action.js";
import { requestText } from "../../../src/shared/io/http/client/request-text.js";
import { UrlError } from "../../../src/shared/io/http/url-escapes.js";
import type { RunResult } from "../../../src/shared/node/probes/run.js";
import { listen, PATIENCE_MS, runPeerProbe, USER_AGENT } from "../../support/probe-kit.js";

interface Case {
  name: string;
  path: string;
  host?: string;
  headers?: { Name: string; Value: string }[];
  /** Byte strings, one a connection; the last one repeats. PORT stands for the server's port. */
  replies: string[];
  /** The connection stays open after the reply. */
  open?: boolean;
  /** Absent: the usual one. */
  requests?: string[];
  outcome: string;
  output: string;
}

/** For cases in which the server leaves the client waiting. */
const SHORT_MS = 300;
const LANES = 8;
const USUAL = `GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nUser-Agent: ${USER_AGENT}\r\nAccept: */*\r\nConnection: close\r\n\r\n`;

/** A server that gives one case after another. */
class CaseServer {
  requests: string[] = [];
  current: Case | undefined;
  port = 0;

  async listen(t: TestContext): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      const { replies = [], open = false } = this.current ?? {};
      const { requests } = this;
      const index = requests.push("") - 1;
      const reply = replies[Math.min(index, replies.length - 1)] ?? "";
      socket.on("error", () => undefined);
      socket.on("data", (piece: Buffer) => {
        const request = (requests[index] ?? "") + piece.toString("latin1");
        requests[index] = request;
        if (!request.endsWith("\r\n\r\n")) return;
        socket.write(Buffer.from(reply.replaceAll("PORT", String(this.port)), "latin1"));
        if (!open) socket.end();
      });
    });
    this.port = await listen(t, server);
  }

  begin(one: Case): void {
    this.current = one;
    this.requests = [];
  }
}

describe("replies, requests and redirects as Go's client has them", () => {
  let cases: Case[] = [];
  before(async () => {
    const text = await readFile("test/facts/http-client.jsonl", "utf8");
    cases = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Case);
  });

  test("every recorded exchange gives Go's result", async (t) => {
    const wrong: string[] = [];
    await Promise.all(
      Array.from({ length: LANES }, async (_, lane) => {
        const server = new CaseServer();
        await server.listen(t);
        for (const one of cases.filter((_case, at) => at % LANES === lane)) {
          const difference = one.host === undefined ? await compared(server, one) : comparedRequest(one);
          if (difference !== undefined) wrong.push(`${one.name}\n${difference}`);
        }
      }),
    );
    assert.equal(wrong.length, 0, `${wrong.length} of ${cases.length} differ:\n${wrong.join("\n")}`);
  });
});

async function compared(server: CaseServer, one: Case): Promise<string | undefined> {
  server.begin(one);
  const { port, requests } = server;
  const headers = (one.headers ?? []).map(({ Name: name, Value: value }) => ({ name, value }));
  const action = { type: "http", scheme: "http", host: "127.0.0.1", port, path: one.path, headers } as const;
  const timesOut = /deadline exceeded/.test(one.output);
  const result: RunResult = await runPeerProbe(action, timesOut ? SHORT_MS : PATIENCE_MS).catch((error: unknown) => ({
    outcome: "error" as const,
    output: messageOf(error),
  }));
  const shown = (text: string): string => text.replaceAll(String(port), "PORT");
  const wanted = JSON.stringify([one.outcome, one.output, one.requests ?? [USUAL]]);
  const got = JSON.stringify([result.outcome, shown(result.output), requests.map(shown)]);
  return wanted === got ? undefined : `  upstream ${wanted}\n  here     ${got}`;
}

/** Hosts that are not this machine: only the request's text. */
function comparedRequest({ host = "", path, headers = [], requests, outcome }: Case): string | undefined {
  const given = headers.map(({ Name: name, Value: value }) => ({ name, value }));
  let text: string | undefined;
  try {
    text = requestText(requestOf({ scheme: "http", host, port: 12345, path, headers: given }, USER_AGENT));
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
  }
  const wanted = outcome === "error" ? undefined : (requests ?? [USUAL])[0];
  const got = text?.replaceAll("12345", "PORT");
  return wanted === got ? undefined : `  upstream ${JSON.stringify(wanted)}\n  here     ${JSON.stringify(got)}`;
}
