// npm start ends: pods of the manifest API and of the Kubernetes API end as gracefully as those of files.
// @promise Packages and documents: Ctrl-C of `npm start` ends every pod gracefully, also those of `nodelet apply` and
//   of `kubectl`.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { access, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { BUSYBOX_IMAGE } from "../../tools/standalone/images.js";
import { NODELET_ENTRY } from "../../tools/standalone/kubelet-process.js";
import { waitFor } from "../../tools/standalone/wait.js";
import { freePort } from "../support/free-port.js";
import { assertNothingIsLeft, npmStart } from "../support/npm-start.js";

const evidence = join(process.env["NODELET_TEST_DIR"] ?? "", "start-end-evidence");

/** A pod that writes `<name>.runs`, and `<name>.ended` when it is asked to end. */
function pod(name: string): unknown {
  const command = `trap 'sleep 1; : > /evidence/${name}.ended; exit 0' TERM; : > /evidence/${name}.runs; while :; do sleep 3600 & wait $!; done`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: {
      terminationGracePeriodSeconds: 30,
      containers: [
        {
          name: "main",
          image: BUSYBOX_IMAGE,
          imagePullPolicy: "IfNotPresent",
          command: ["sh", "-c", command],
          volumeMounts: [{ name: "evidence", mountPath: "/evidence" }],
        },
      ],
      volumes: [{ name: "evidence", hostPath: { path: evidence } }],
    },
  };
}

test("Ctrl-C ends pods of nodelet apply and of kubectl within their grace period, and nothing is left", async (t) => {
  // A repeated run finds nothing of the first one.
  await rm(evidence, { recursive: true, force: true });
  await mkdir(evidence, { recursive: true });
  const run = await npmStart("start-end", ["--api-port", String(await freePort())]);
  t.after(() => run.stop());
  await run.untilReady();
  const rootDir = join(run.dir, "kubelet");
  const manifest = join(evidence, "applied.json");
  await writeFile(manifest, JSON.stringify(pod("applied")));
  await promisify(execFile)(process.execPath, [NODELET_ENTRY, "--root-dir", rootDir, "apply", "-f", manifest]);
  const objects = join(rootDir, "nodelet/api/store/objects/pods/default");
  await mkdir(objects, { recursive: true });
  await writeFile(join(objects, "object.new"), JSON.stringify(pod("object")));
  await rename(join(objects, "object.new"), join(objects, "object.json"));
  for (const name of ["applied", "object"])
    await waitFor(
      () =>
        access(join(evidence, `${name}.runs`)).then(
          () => true,
          () => false,
        ),
      { what: `${name} to run` },
    );

  assert.ok(run.pid !== undefined);
  process.kill(run.pid, "SIGINT");
  assert.equal(await run.closed, 0, run.problems());
  assert.doesNotMatch(run.problems(), /by force/);
  assert.deepEqual((await readdir(evidence)).filter((name) => name.endsWith(".ended")).toSorted(), [
    "applied.ended",
    "object.ended",
  ]);
  await assertNothingIsLeft(run);
});
