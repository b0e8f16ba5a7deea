// Which image the rows of PodSandboxes name. containerd 1 has it in its configuration, containerd 2 in each
// PodSandbox's status.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { PodSandbox } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { SandboxImage } from "../../../../src/workers/server/stats/sandbox-image.js";
import { silentLog } from "../../../support/silent.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const log = silentLog;

function build(config: string, sandboxes: Record<string, string>) {
  const calls: string[] = [];
  const clock = new SteppedClock();
  const runtime = {
    status: () => {
      calls.push("Status");
      return Promise.resolve({ info: { config }, runtimeHandlers: [] });
    },
    listPodSandbox: () => {
      calls.push("ListPodSandbox");
      return Promise.resolve({ items: Object.keys(sandboxes).map((id) => ({ id }) as PodSandbox) });
    },
    podSandboxStatus: ({ podSandboxId = "" }) => {
      calls.push(`PodSandboxStatus ${podSandboxId}`);
      const info = sandboxes[podSandboxId];
      if (info === undefined) return Promise.reject(new Error("not found"));
      return Promise.resolve({ info: { info } } as never);
    },
  };
  const image = new SandboxImage(() => Promise.resolve(runtime as never), clock, log);
  return { image, calls, clock, sandboxes };
}

test("containerd 1 names the image in its configuration, once in ten minutes", async () => {
  const { image, calls, clock } = build('{"sandboxImage":"pause:1"}', {});
  equal(await image.get(), "pause:1");
  equal(await image.get(), "pause:1");
  deepEqual(calls, ["Status"]);
  clock.step(10 * 60_000);
  await image.get();
  deepEqual(calls, ["Status", "Status"]);
});

test("containerd 2 names it in the status of any PodSandbox; without one the next page asks again", async () => {
  const { image, calls, sandboxes } = build('{"containerd":{}}', {});
  equal(await image.get(), "");
  sandboxes["one"] = '{"pid":1,"image":"pause:2"}';
  equal(await image.get(), "pause:2");
  equal(await image.get(), "pause:2");
  deepEqual(calls, ["Status", "ListPodSandbox", "Status", "ListPodSandbox", "PodSandboxStatus one"]);
});

test("a runtime whose status names no image is not called at each page", async () => {
  const { image, calls } = build("", { one: "not JSON" });
  equal(await image.get(), "");
  equal(await image.get(), "");
  deepEqual(calls, ["Status", "ListPodSandbox", "PodSandboxStatus one"]);
});

test("a PodSandbox that is removed meanwhile costs the image for a minute, not the page", async () => {
  const { image, clock, sandboxes } = build("", { one: '{"image":"pause:2"}' });
  const info = sandboxes["one"] ?? "";
  Object.defineProperty(sandboxes, "one", { get: () => undefined, configurable: true, enumerable: true });
  equal(await image.get(), "");
  Object.defineProperty(sandboxes, "one", { get: () => info, configurable: true, enumerable: true });
  equal(await image.get(), "");
  clock.step(60_000);
  equal(await image.get(), "pause:2");
});
