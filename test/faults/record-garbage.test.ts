// Pod records that cannot be used: each is set aside with a warning, the kubelet starts, its pods are adopted.
// @promise Configuration and manifests: Damaged records are set aside; damaged manifests cause one message each and
//   affect no other pod.
// @with test/faults/hostile-manifests.test.ts, test/faults/manifests.test.ts

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startNode, type TestNode } from "../harness/node.js";
import { agentLog, isError, identities, PATIENCE_MS, podOf, runs, sleeper } from "../support/fault-node.js";

const NAMES = ["cut", "newer", "whole"];

describe("garbage among the pod records", () => {
  let node: TestNode;
  let records: string;

  before(async () => {
    node = await startNode();
    records = join(node.kubelet.rootDir, "nodelet", "pods");
    for (const name of NAMES) await node.writeManifest(name, sleeper(name));
    await node.waitFor((pods) => NAMES.every((name) => runs(pods, name)), {
      what: "the pods to run",
      timeoutMs: PATIENCE_MS,
    });
  });
  after(() => node.stop());

  test("is set aside with a warning each", async () => {
    const pods = await node.pods();
    const before = identities(pods, NAMES);
    const uidOf = (name: string): string => podOf(pods, name)?.metadata.uid ?? "";
    const recordOf = (name: string): string => join(records, `${uidOf(name)}.json`);
    await node.kill9();

    const good = await readFile(recordOf("whole"), "utf8");
    const foreign = (fields: object): string => JSON.stringify({ ...(JSON.parse(good) as object), ...fields });
    const pod = { apiVersion: "v1", kind: "Pod", spec: { containers: [] } };
    const garbage: Record<string, string | Buffer> = {
      [recordOf("cut")]: (await readFile(recordOf("cut"), "utf8")).slice(0, 100),
      [recordOf("newer")]: foreign({ version: 99 }),
      [join(records, "empty.json")]: "",
      [join(records, "binary.json")]: Buffer.from([0xff, 0xfe, 0, 1, 2, 0x80]),
      [join(records, "null.json")]: "null",
      [join(records, "list.json")]: "[1,2]",
      [join(records, "bare.json")]: `{"version":1}`,
      [join(records, "no-metadata.json")]: foreign({ pod: {} }),
      [join(records, "no-spec.json")]: foreign({ pod: { metadata: { uid: "no-spec", name: "a", namespace: "b" } } }),
      [join(records, "other-uid.json")]: good,
      [join(records, "escape.json")]: foreign({
        pod: { ...pod, metadata: { uid: "../../../escape", name: "a", namespace: "b" } },
      }),
      [join(records, "deadline.json")]: foreign({
        pod: { ...pod, metadata: { uid: "deadline", name: "a", namespace: "b" } },
        termination: { deadline: "soon" },
      }),
    };
    for (const [path, content] of Object.entries(garbage)) await writeFile(path, content);
    const folder = join(records, "folder.json");
    await mkdir(folder);
    const paths = Object.keys(garbage);

    const logged = (await agentLog(node)).length;
    await node.restart();
    const after = await node.waitFor((seen) => NAMES.every((name) => runs(seen, name)), {
      what: "the pods to be adopted",
      timeoutMs: PATIENCE_MS,
    });
    assert.deepEqual(identities(after, NAMES), before);
    const { startTime } = JSON.parse(good) as { startTime: string };
    const believed = JSON.parse(await readFile(recordOf("whole"), "utf8")) as { startTime: string };
    assert.equal(believed.startTime, startTime, "a good record is believed");
    assert.equal(after.length, NAMES.length);

    const lines = (await agentLog(node)).slice(logged);
    for (const path of [...paths, folder]) {
      const about = lines.filter((line) => line.severity === "warning" && line.path === path);
      assert.equal(about.length, 1, `one warning about ${path}`);
      assert.match(about[0]?.msg ?? "", /set aside/);
    }
    assert.deepEqual(
      lines.filter(isError).map(({ msg }) => msg),
      [],
    );
    const aside = (await readdir(records)).filter((name) => name.includes(".corrupt-"));
    assert.equal(aside.length, paths.length + 1);
  });
});
