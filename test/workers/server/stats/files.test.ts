// Files that stay open, texts that are kept, places that are remembered: none outlives what it was read of.

import { deepEqual, equal } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import type { PodPlace } from "../../../../src/shared/node/stats/pod-cgroups.js";
import { KeptFiles } from "../../../../src/workers/server/stats/kept-files.js";
import { Places } from "../../../../src/workers/server/stats/places.js";
import { SettledFiles } from "../../../../src/workers/server/stats/settled-files.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const openFiles = (path: string): number =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  }).length;

describe("files that stay open", () => {
  test("are read again each time, long ones completely, and closed when unused", async () => {
    const folder = await mkdtemp(join(tmpdir(), "nodelet-kept-"));
    const clock = new SteppedClock();
    const kept = new KeptFiles(clock, 2);
    try {
      const [first, second, third] = ["a", "b", "c"].map((name) => join(folder, name)) as [string, string, string];
      await writeFile(first, "1");
      await writeFile(second, "x".repeat(10_000));
      await writeFile(third, "3");
      equal(kept.read(join(folder, "none")), undefined);
      equal(kept.read(first), "1");
      await writeFile(first, "22");
      equal(kept.read(first), "22");
      equal(openFiles(first), 1);
      equal(kept.read(second)?.length, 10_000);
      // There are as many as there may be: this one is opened for each read.
      equal(kept.read(third), "3");
      equal(openFiles(third), 0);
      clock.step(20_000);
      kept.read(second);
      clock.step(10_000);
      kept.prune();
      equal(openFiles(first), 0);
      equal(kept.size, 1);
      kept.close();
      equal(openFiles(second), 0);
      equal(kept.read(first), "22");
    } finally {
      kept.close();
      await rm(folder, { recursive: true });
    }
  });

  test("a file that the kernel removes is dropped, and closed", async () => {
    const child = spawn("sleep", ["60"], { stdio: "ignore" });
    await once(child, "spawn");
    const path = `/proc/${child.pid ?? 0}/stat`;
    const kept = new KeptFiles(new SteppedClock());
    equal(kept.read(path)?.startsWith(String(child.pid)), true);
    child.kill("SIGKILL");
    await once(child, "exit");
    equal(kept.read(path), undefined);
    equal(kept.size, 0);
    equal(openFiles(path), 0);
  });
});

test("values that another process may set are read every five minutes, and when their pod has changed", () => {
  const clock = new SteppedClock();
  const asked: string[] = [];
  const settled = new SettledFiles((path) => {
    asked.push(path);
    return path.endsWith("none") ? undefined : String(asked.length);
  }, clock);
  equal(settled.read("/m/p/limit"), "1");
  equal(settled.read("/m/p/c/limit"), "2");
  equal(settled.read("/m/q/none"), undefined);
  clock.step(299_999);
  equal(settled.read("/m/p/limit"), "1");
  equal(settled.read("/m/q/none"), undefined);
  equal(asked.length, 3);
  settled.forget("/p");
  equal(settled.read("/m/p/c/limit"), "4");
  equal(settled.read("/m/q/none"), undefined);
  equal(asked.length, 4);
  clock.step(1);
  equal(settled.read("/m/q/none"), undefined);
  equal(asked.length, 5);
  clock.step(600_000);
  settled.prune();
  equal(settled.size, 0);
});

describe("places of pods", () => {
  const pod = (phase: "Running" | "Pending"): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "n", uid: podUid("u") },
    spec: { containers: [] },
    status: { phase },
  });
  const setUp = () => {
    const clock = new SteppedClock();
    const looked: Pod[] = [];
    const found: string[] = [];
    const there = { path: "/k/u" as string | undefined };
    const places = new Places({
      cgroups: {
        find(one): PodPlace | undefined {
          looked.push(one);
          return there.path === undefined ? undefined : { pod: one, path: there.path, containers: [] };
        },
      },
      clock,
      found: (path) => found.push(path),
    });
    return { clock, looked, found, there, places };
  };

  test("are found once, and again for a new object, after half a minute, or on request", () => {
    const { clock, looked, found, places } = setUp();
    const first = pod("Pending");
    equal(places.find(first)?.path, "/k/u");
    clock.step(29_999);
    places.find(first);
    equal(looked.length, 1);
    clock.step(1);
    places.find(first);
    equal(looked.length, 2);
    // Its settled files are still those.
    deepEqual(found, ["/k/u"]);
    const second = pod("Running");
    equal(places.find(second)?.pod, second);
    deepEqual(found, ["/k/u", "/k/u"]);
    places.forget(podUid("u"));
    places.find(second);
    equal(looked.length, 4);
  });

  test("a pod without a cgroup is looked for each time", () => {
    const { looked, there, places } = setUp();
    there.path = undefined;
    const one = pod("Pending");
    equal(places.find(one), undefined);
    equal(places.find(one), undefined);
    equal(looked.length, 2);
    there.path = "/k/u";
    equal(places.find(one)?.path, "/k/u");
  });
});
