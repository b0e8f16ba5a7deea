// The status page as a whole: all viewers share what is read for them, and nothing is read without a viewer.

import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { HandlerInit } from "../../../../src/shared/contracts/server.js";
import type { Logger } from "../../../../src/shared/telemetry/log/logger.js";
import type { Call } from "../../../../src/workers/server/http/answer.js";
import { StatusPage, type StatusPageDeps } from "../../../../src/workers/server/page/status-page.js";
import { PodList } from "../../../../src/workers/server/pods/pod-list.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

/** A response that takes every byte. */
class Viewer extends EventEmitter {
  written = "";
  destroyed = false;
  setHeader(): void {}
  writeHead(): this {
    return this;
  }
  flushHeaders(): void {}
  write(text: string): boolean {
    this.written += text;
    return true;
  }
  leave(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

function rig() {
  const clock = new SteppedClock();
  const reads: Record<string, number> = {};
  const counted =
    <T>(name: string, value: T) =>
    (): Promise<T> => {
      reads[name] = (reads[name] ?? 0) + 1;
      return Promise.resolve(value);
    };
  const deps = {
    handlers: {} as HandlerInit,
    pods: new PodList(() => Promise.resolve()),
    configz: () => ({ plain: "{}", withOrigins: "{}" }),
    upcalls: {
      nodeFacts: counted("nodeFacts", {}),
      podFacts: counted("podFacts", undefined),
      timeline: counted("timeline", undefined),
      unusedImages: counted("unusedImages", []),
      events: counted("events", [{ reason: "Starting" }]),
    },
    status: {
      ...{ node: "n", kubernetesVersion: "v1", rootDir: "/", runtimeEndpoint: "", docker: undefined, certificates: [] },
      ...{ api: undefined, devicePluginProblem: () => "", disk: () => Promise.reject(new Error("not read")) },
    },
    threads: () => [],
    usage: counted("usage", { pods: [] }),
    images: () => Promise.reject(new Error("no runtime")),
    clock,
    log: {} as Logger,
  } as unknown as StatusPageDeps;
  const page = new StatusPage(deps);
  const view = (path: string, params: Record<string, string> = {}): Viewer => {
    const viewer = new Viewer();
    const route = page.routes.find((one) => one.path === path);
    void route?.answer({} as IncomingMessage, viewer as unknown as ServerResponse, { params } as unknown as Call);
    return viewer;
  };
  const pass = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed <= seconds; passed++) {
      for (let turns = 0; turns < 5; turns++) await setImmediate();
      if (passed < seconds) clock.step(1000);
    }
  };
  return { page, reads, view, pass };
}

test("nothing is read from main or from cgroups without a viewer", async () => {
  const { page, reads, view, pass } = rig();
  await pass(60);
  assert.deepEqual(reads, {});
  const viewer = view("/ui/stream/node");
  await pass(1);
  viewer.leave();
  const before = { ...reads };
  assert.equal(before["usage"], 1);
  await pass(60);
  assert.deepEqual(reads, before);
  await page.close();
});

test("many viewers cost as many readings as one, and each view reads only what it shows", async () => {
  const { page, reads, view, pass } = rig();
  const viewers = Array.from({ length: 20 }, () => view("/ui/stream/node"));
  await pass(20);
  assert.equal(reads["usage"], 5);
  assert.equal(reads["nodeFacts"], 5);
  assert.deepEqual([reads["events"], reads["podFacts"]], [undefined, undefined]);
  const host = view("/ui/stream/host");
  await pass(1);
  assert.match(host.written, /"host",\{"osImage":"/);
  assert.match(host.written, /"reason":"Starting"/);
  assert.equal(reads["events"], 1);
  for (const viewer of [...viewers, host]) viewer.leave();
  await page.close();
});
