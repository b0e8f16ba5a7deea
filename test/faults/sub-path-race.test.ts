// A container exchanges a directory of a volume for a symbolic link in a loop, while the kubelet mounts a subPath below
// it for other containers of the pod (CVE-2021-25741's kind). Whatever the moment, no mount may show a directory
// outside the volume.

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sleep } from "../../tools/standalone/wait.js";
import { startNode, testImage, waitFor, type TestNode } from "../harness/node.js";
import { agentLog, controlFolder, PATIENCE_MS } from "../support/fault-node.js";

const SECONDS = 35;
const READERS = 12;
/**
 * Mounts that were tried: container runs, and refusals of the kubelet. A machine that is busy with other things takes
 * longer.
 */
const LEAST_TRIES = 40;

let node: TestNode;
before(async () => {
  node = await startNode({
    config: {
      featureGates: { KubeletCrashLoopBackOffMax: true },
      crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
    },
  });
});
after(() => node.stop());

function storm(outside: string): string {
  const link = (target: string): string => `ln -s ${target} x; rm -rf x`;
  return [
    "cd /v; trap 'exit 0' TERM; mkdir -p real/log/deep",
    "while true; do",
    "  mv real x; mv x real",
    `  ${link(outside)}; ${link("/")}; ${link("../../../../../../..")}; rm -rf real/real`,
    "  mv real x; mv x/log x/kept; ln -s / x/log; rm -f x/log; mv x/kept x/log; mv x real",
    "done",
  ].join("\n");
}

/** Roots of the mounts below the pods' volume-subpaths, within their file systems. */
async function subPathRoots(rootDir: string): Promise<string[]> {
  const lines = (await readFile("/proc/self/mountinfo", "utf8")).split("\n");
  return lines.flatMap((line) => {
    const [, , , root = "", target = ""] = line.split(" ");
    return target.startsWith(`${rootDir}/pods/`) && target.includes("/volume-subpaths/") ? [root] : [];
  });
}

test(`no subPath mount leaves its volume in ${SECONDS} s of exchanged symbolic links`, async (t) => {
  const ctl = await controlFolder(node);
  const outside = join(node.kubelet.dir, "outside");
  await mkdir(join(outside, "log"), { recursive: true });
  for (const path of [outside, join(outside, "log")]) await writeFile(join(path, "secret"), "secret\n");
  const shell = (name: string, script: string, mounts: object[]) => ({
    ...{ name, image: testImage(), imagePullPolicy: "Never", command: ["sh", "-c", script] },
    volumeMounts: mounts,
  });
  const read = [
    ": > /ctl/run.$HOSTNAME.$NAME.$(cut -d' ' -f1 /proc/uptime)",
    "for f in /in/secret /in/log/secret /in/etc/passwd /in/proc/self; do [ -e $f ] && echo $f > /ctl/leak.$NAME; done; exit 0",
  ].join("\n");
  const readers = Array.from({ length: READERS }, (_, at) => ({
    ...shell(`r${at}`, read, [
      { name: "v", mountPath: "/in", subPath: ["x/log", "x", "x/log/deep"][at % 3] },
      { name: "ctl", mountPath: "/ctl" },
    ]),
    env: [{ name: "NAME", value: `r${at}` }],
  }));
  await node.writeManifest("race", {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "race" } },
    spec: {
      terminationGracePeriodSeconds: 2,
      containers: [shell("storm", storm(outside), [{ name: "v", mountPath: "/v" }]), ...readers],
      volumes: [
        { name: "v", emptyDir: {} },
        { name: "ctl", hostPath: { path: ctl, type: "Directory" } },
      ],
    },
  });
  const tries = async (): Promise<number> => {
    const runs = (await readdir(ctl)).filter((name) => name.startsWith("run.")).length;
    const refusals = (await agentLog(node)).filter(({ msg }) => msg.includes("leads out of the volume")).length;
    return runs + refusals;
  };
  const seen = new Set<string>();
  const look = async (): Promise<void> => {
    for (const root of await subPathRoots(node.kubelet.rootDir)) seen.add(root);
  };
  const until = Date.now() + SECONDS * 1000;
  while (Date.now() < until) {
    await look();
    await sleep(20);
  }
  const enough = async (): Promise<boolean> => {
    await look();
    return (await tries()) >= LEAST_TRIES;
  };
  await waitFor(enough, { what: `${LEAST_TRIES} mounts to be tried`, timeoutMs: 4 * PATIENCE_MS, intervalMs: 50 });
  const strays = [...seen].filter((root) => !root.includes("/volumes/kubernetes.io~empty-dir/v"));
  assert.deepEqual(strays, []);
  assert.ok(seen.size > 0, "the look at the mounts saw none");
  const leaks = (await readdir(ctl)).filter((name) => name.startsWith("leak."));
  assert.deepEqual(leaks, []);
  t.diagnostic(`${await tries()} mounts were tried`);
});
