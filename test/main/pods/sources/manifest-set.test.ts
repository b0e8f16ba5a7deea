// Deliveries of a folder of manifests: at once where there are few, shared by many changes where there are thousands.

import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ManifestSet } from "../../../../src/main/pods/sources/manifest-set.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

interface File {
  pods: readonly Pod[];
  settled: boolean;
  exists: boolean;
}

const pod = (uid: string): Pod => ({
  ...{ apiVersion: "v1", kind: "Pod" },
  metadata: { name: uid, namespace: "default", uid: podUid(uid) },
  spec: { containers: [] },
});

function folderOf(files: number) {
  const clock = new SteppedClock();
  const deliveries: { uids: string[]; complete: boolean }[] = [];
  const set = new ManifestSet<File>({
    uids: {
      deliver: (pods, complete) => deliveries.push({ uids: pods.map(({ metadata }) => metadata.uid), complete }),
    },
    clock,
    onChange: () => undefined,
  });
  for (let n = 0; n < files; n++) set.files.set(`${n}`, { pods: [], settled: false, exists: true });
  const setPods = (name: string, ...uids: string[]): void => {
    const file = set.files.get(name);
    ok(file);
    set.change(file, () => {
      file.settled = true;
      file.pods = uids.map(pod);
    });
  };
  return { clock, deliveries, set, setPods };
}

test("each change of a small folder is delivered at once", () => {
  const { deliveries, set, setPods } = folderOf(2);
  set.onScanned();
  setPods("0", "a");
  setPods("1", "b");
  deepEqual(deliveries, [
    { uids: [], complete: false },
    { uids: ["a"], complete: false },
    { uids: ["a", "b"], complete: true },
  ]);
});

test("the files of a large folder share deliveries, whose number does not grow with the files", () => {
  const { clock, deliveries, set, setPods } = folderOf(5000);
  set.onScanned();
  for (let n = 0; n < 5000; n++) {
    setPods(`${n}`, `uid-${n}`);
    clock.step(1);
  }
  clock.step(1000);
  equal(deliveries.at(-1)?.uids.length, 5000);
  ok(deliveries.at(-1)?.complete === true);
  ok(deliveries.length <= 5000 / 100 + 2, `${deliveries.length} deliveries in 5 s`);
});

test("a first change after a rest is delivered at once, in a large folder, too", () => {
  const { clock, deliveries, set, setPods } = folderOf(5000);
  set.onScanned();
  clock.step(1000);
  setPods("7", "a");
  deepEqual(deliveries.at(-1)?.uids, ["a"]);
});

test("after the stop nothing is delivered", () => {
  const { clock, deliveries, set, setPods } = folderOf(5000);
  set.onScanned();
  setPods("0", "a");
  set.stop();
  clock.step(1000);
  setPods("1", "b");
  equal(deliveries.length, 1);
});

test("each version of each file is delivered, in its order", () => {
  const change = fc.record({
    name: fc.constantFrom("0", "1", "2"),
    uid: fc.option(fc.constantFrom("a", "b")),
    waitMs: fc.nat(30),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const { clock, deliveries, set, setPods } = folderOf(300);
      set.onScanned();
      const versions = new Map<string, string[]>();
      for (const { name, uid, waitMs } of changes) {
        const version = uid === null ? "" : `${name}-${uid}`;
        setPods(name, ...(version === "" ? [] : [version]));
        const known = versions.get(name) ?? [""];
        if (known.at(-1) !== version) known.push(version);
        versions.set(name, known);
        clock.step(waitMs);
      }
      clock.step(1000);
      for (const [name, expected] of versions) {
        const seen: string[] = [];
        for (const { uids } of deliveries) {
          const version = uids.find((uid) => uid.startsWith(`${name}-`)) ?? "";
          if (seen.at(-1) !== version) seen.push(version);
        }
        deepEqual(seen, expected);
      }
    }),
  );
});
