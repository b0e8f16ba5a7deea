// The mount helper of NFS gets a source, never options that a pod's author wrote as one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { NfsVolumes } from "../../../../src/main/volumes/persistent/nfs.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { temporaryRoot } from "../temporary-root.js";

function request(server: string): Parameters<NfsVolumes["setUp"]>[0] {
  const { signal } = new AbortController();
  return {
    uid: podUid("u1"),
    name: "share",
    nfs: { server, path: "/export" },
    readOnly: false,
    mountOptions: [],
    signal,
  };
}

test("An NFS server that begins with '-' is refused before the mount program runs", async (t) => {
  const sources: string[] = [];
  const nfs = new NfsVolumes(await temporaryRoot(t), ({ source }) => {
    sources.push(source);
    return Promise.resolve();
  });
  await assert.rejects(nfs.setUp(request("-osuid")), { name: "VolumeError" });
  assert.deepEqual(sources, []);
  await nfs.setUp(request("files.example.org"));
  await assert.doesNotReject(nfs.setUp({ ...request("fd00::1"), name: "other" }));
  assert.deepEqual(sources, ["files.example.org:/export", "[fd00::1]:/export"]);
});
