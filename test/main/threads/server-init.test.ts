// Which ports each of the two server threads opens, by the settings.

import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSettings } from "../../../src/main/command/settings.js";
import { secureServerInit, serverInit } from "../../../src/main/threads/server-init.js";
import type { ThreadFacts } from "../../../src/main/threads/thread-host.js";
import type { ServerInit } from "../../../src/shared/contracts/server.js";
import { CONFIG_FILE, filesOf, ioOf } from "../../support/config-kit.js";

const EVERYTHING = "readOnlyPort: 10255\nhealthzPort: 10248\n";

async function factsOf(file: string, ...argv: string[]): Promise<ThreadFacts> {
  const request = await loadSettings([`--config=${CONFIG_FILE}`, ...argv], ioOf(filesOf({ file })));
  if (request.action !== "run") throw new Error("the settings are those of a run");
  return {
    settings: request.settings,
    nodeName: "node",
    directories: { checkpoints: "/checkpoints", containerLogs: "/logs" },
    serving: { certFile: "/cert", keyFile: "/key" },
    api: undefined,
    nativeHistograms: false,
  };
}

/** What a thread with this init data opens. */
function opened(init: ServerInit | undefined): string[] {
  if (init === undefined) return [];
  const { secure, readOnlyPort, healthzPort, admin, page } = init;
  return [
    ...(secure === undefined ? [] : [`authenticated ${secure.port}`]),
    ...(readOnlyPort === 0 ? [] : [`read-only ${readOnlyPort}`]),
    ...(healthzPort === 0 ? [] : [`healthz ${healthzPort}`]),
    ...(admin === undefined ? [] : ["admin socket"]),
    ...(page?.secure === true ? ["page on the authenticated port"] : []),
    ...(page !== undefined && page.loopbackPort !== 0 ? [`page ${page.loopbackPort}`] : []),
  ];
}

test("the authenticated port and its page are another thread's than all other ports", async () => {
  const facts = await factsOf(EVERYTHING, "--status-page", "--status-page-port=10254");
  assert.deepEqual(opened(serverInit(facts)), ["read-only 10255", "healthz 10248", "admin socket", "page 10254"]);
  assert.deepEqual(opened(secureServerInit(facts)), ["authenticated 10250", "page on the authenticated port"]);
});

test("without a CA of clients the authenticated port has its thread, too", async () => {
  const facts = await factsOf("authentication:\n  anonymous:\n    enabled: false\n");
  assert.equal(facts.settings.server.authentication.clientCAFile, "");
  assert.equal(opened(secureServerInit(facts))[0], "authenticated 10250");
});

test("without the authenticated port there is no such thread, and its page is nowhere", async () => {
  const facts = await factsOf(`enableServer: false\n${EVERYTHING}`, "--status-page");
  assert.equal(secureServerInit(facts), undefined);
  assert.deepEqual(opened(serverInit(facts)), ["read-only 10255", "healthz 10248", "admin socket"]);
});

test("the manifest API is on the ports that --manifest-api names", async () => {
  const rows: readonly (readonly [flags: string[], socket: boolean, port: boolean])[] = [
    [[], false, false],
    [["--manifest-api=false"], false, false],
    [["--manifest-api=socket"], true, false],
    [["--manifest-api"], true, true],
    [["--manifest-api=socket", "--manifest-api"], true, true],
    [["--manifest-api=socket", "--manifest-api=false"], false, false],
  ];
  for (const [flags, socket, port] of rows) {
    const facts = await factsOf(EVERYTHING, ...flags);
    const [admin, secure] = [serverInit(facts).admin, secureServerInit(facts)?.secure];
    assert.deepEqual([admin?.handlers.manifestApi, secure?.manifestApi], [socket, port], flags.join(" "));
  }
});
