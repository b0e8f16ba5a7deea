// Which static pods keep the UID of an earlier release: those that have a directory under it, and none under the
// present one.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { FormerUids } from "../../../../src/main/pods/sources/former-uids.js";
import { type PodUid, podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";
import { keptLog } from "../../../support/sources-kit.js";

const [web, db] = [pod({}, "web", "new-web"), pod({}, "db", "new-db")];
const FORMER = { "new-web": "old-web" };

async function kept(onDisk: () => Promise<readonly string[]>, former: Record<string, string> = FORMER) {
  const { log, lines } = keptLog();
  const uids = new FormerUids(async () => (await onDisk()).map(podUid), log);
  const pods = await uids.keep([web, db], former as Record<PodUid, PodUid>);
  return { uids: pods.map(({ metadata }) => metadata.uid), pods, lines };
}

test("a pod keeps the UID under which it is on the node, also in its annotation", async () => {
  const { uids, pods } = await kept(() => Promise.resolve(["old-web", "other"]));
  deepEqual(uids, ["old-web", "new-db"]);
  equal(pods[0]?.metadata.annotations?.["kubernetes.io/config.hash"], "old-web");
});

test("a pod that is not on the node, or is there under both, has its present UID", async () => {
  deepEqual((await kept(() => Promise.resolve(["other"]))).uids, ["new-web", "new-db"]);
  deepEqual((await kept(() => Promise.resolve(["old-web", "new-web"]))).uids, ["new-web", "new-db"]);
});

test("the disk is read only where a UID differs; one that cannot be read is logged", async () => {
  let reads = 0;
  const counted = (): Promise<string[]> => Promise.resolve((reads++, []));
  await kept(counted, {});
  await kept(counted, { another: "old" });
  equal(reads, 0);
  const { uids, lines } = await kept(() => Promise.reject(new Error("EIO")));
  deepEqual(uids, ["new-web", "new-db"]);
  equal(lines.length, 1);
});
