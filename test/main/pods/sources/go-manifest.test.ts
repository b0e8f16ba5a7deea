// Each case of test/facts/manifest-url.jsonl: what a server sends for a manifest URL, and what upstream's client, on
// Go's net/http, made of it. The same bytes give the same requests, and the same manifest or none.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import { fetchManifest, ManifestFetchError } from "../../../../src/main/pods/sources/fetch-manifest.js";
import { CaseServer, type RecordedReplies } from "../../../support/case-server.js";
import { PATIENCE_MS } from "../../../support/probe-kit.js";

interface Case extends RecordedReplies {
  name: string;
  /** The URL, with PORT for the server's port. */
  path: string;
  header?: Record<string, string[]>;
  requests: string[];
  /** "error": no manifest. The words are this kubelet's. */
  outcome: "success" | "error";
  /** The manifest, a byte string. */
  output: string;
}

const LANES = 8;

describe("manifests of URLs as Go's client reads them", () => {
  let cases: Case[] = [];
  before(async () => {
    const text = await readFile("test/facts/manifest-url.jsonl", "utf8");
    cases = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Case);
  });

  test("every recorded exchange gives Go's manifest, or none", async (t) => {
    const wrong: string[] = [];
    await Promise.all(
      Array.from({ length: LANES }, async (_, lane) => {
        const server = new CaseServer();
        await server.listen(t);
        for (const one of cases.filter((_case, at) => at % LANES === lane)) {
          const difference = await compared(server, one);
          if (difference !== undefined) wrong.push(`${one.name}\n${difference}`);
        }
      }),
    );
    assert.equal(wrong.length, 0, `${wrong.length} of ${cases.length} differ:\n${wrong.join("\n")}`);
  });
});

async function compared(server: CaseServer, one: Case): Promise<string | undefined> {
  server.begin(one);
  const { requests, port } = server;
  const url = one.path.replaceAll("PORT", String(port));
  const manifest = await fetchManifest(url, one.header ?? {}, AbortSignal.timeout(PATIENCE_MS)).catch(
    (error: unknown) => {
      if (!(error instanceof ManifestFetchError)) throw error;
      return undefined;
    },
  );
  const wanted = JSON.stringify([one.outcome === "success" ? one.output : undefined, one.requests]);
  const text = manifest === undefined ? undefined : Buffer.from(manifest).toString("latin1");
  const got = JSON.stringify([text, requests.map((request) => server.shown(asKeptAlive(request)))]);
  return wanted === got ? undefined : `  upstream ${wanted}\n  here     ${got}`;
}

/** Upstream keeps the connection; here each request has one of its own. */
const asKeptAlive = (request: string): string => request.replace(/\r\nConnection: close(?=\r\n\r\n$)/, "");
