// Each case of test/facts/http-client.jsonl: what a server sends, and what upstream's prober or its httpGet hooks, on
// Go's net/http, made of it. The same bytes through the peers thread's actions give the same requests and the same
// result.
// @headline Probes and hooks | Probes read responses as Go does. | every recorded exchange

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import { messageOf } from "../../../src/shared/base/errors/thrown.js";
import { requestOf, type GetAction } from "../../../src/shared/io/http/client/get-action.js";
import { requestText } from "../../../src/shared/io/http/client/request-text.js";
import { UrlError } from "../../../src/shared/io/http/url-escapes.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import type { RunResult } from "../../../src/shared/node/probes/run.js";
import { CaseServer, type RecordedReplies } from "../../support/case-server.js";
import { PATIENCE_MS, peerActions, runPeerProbe, USER_AGENT } from "../../support/probe-kit.js";

interface Case extends RecordedReplies {
  name: string;
  /** Absent: a probe. */
  kind?: "hook";
  path: string;
  host?: string;
  headers?: { Name: string; Value: string }[];
  /** Absent: the usual one. */
  requests?: string[];
  outcome: string;
  output: string;
}

/** For cases in which the server leaves the client waiting. */
const SHORT_MS = 300;
const LANES = 8;
const HOOK_USER_AGENT = "kube-lifecycle/1.36";
const USUAL = `GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nUser-Agent: ${USER_AGENT}\r\nAccept: */*\r\nConnection: close\r\n\r\n`;

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
  const timeoutMs = /deadline exceeded/.test(one.output) ? SHORT_MS : PATIENCE_MS;
  const run = one.kind === "hook" ? runHook(action, timeoutMs) : runPeerProbe(action, timeoutMs);
  const result: RunResult = await run.catch((error: unknown) => ({
    outcome: "error" as const,
    output: messageOf(error),
  }));
  const wanted = JSON.stringify([one.outcome, one.output, one.requests ?? [USUAL]]);
  const sent = requests.map((request) => server.shown(one.kind === "hook" ? asKeptAlive(request) : request));
  const got = JSON.stringify([result.outcome, server.shown(result.output), sent]);
  return wanted === got ? undefined : `  upstream ${wanted}\n  here     ${got}`;
}

async function runHook(action: GetAction, timeoutMs: number): Promise<RunResult> {
  const hook = { uid: podUid("u1"), action, userAgent: HOOK_USER_AGENT };
  const reply = await peerActions().hook(hook, AbortSignal.timeout(timeoutMs));
  return reply.ok ? { outcome: "success", output: "" } : { outcome: "failure", output: reply.message };
}

/** Upstream's hooks keep their connections; here each has one of its own. */
const asKeptAlive = (request: string): string => request.replace(/\r\nConnection: close(?=\r\n\r\n$)/, "");

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
