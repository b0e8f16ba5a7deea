// A pod that may write to /var/log/pods and /var/log/containers creates links, FIFOs, devices and huge files there. The
// kubelet reads and removes no file behind them, waits for none, and keeps the logs of other pods.
// @promise Hostile tenants and clients: A pod creates links, FIFOs, devices and files of terabytes in /var/log/pods and
//   /var/log/containers. The kubelet reads and removes no file that they lead to and waits for none. It rotates and
//   serves the logs of other pods.
// @with test/main/containers/logs/compress-queue.test.ts, test/workers/server/logs/pods

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { metric } from "../support/fault-node.js";
import { secureAsk, secureOpen, waitSecure } from "../support/secure-ask.js";
import {
  IDLE,
  logDirectory,
  manifest,
  PATIENCE_MS,
  shell,
  statusOf,
  waitForPod,
  waitGone,
} from "../support/static-pods.js";

const CONFIG = {
  containerLogMaxSize: "64Ki",
  containerLogMaxFiles: 3,
  containerLogMonitorInterval: "3s",
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: "AlwaysAllow" },
};
const SECRET = "a line of another program";
const LINKS = "/var/log/containers";
/** Kinds of entries that stand in the place of containers' logs. */
const PLANTED = ["link", "fifo", "device", "folder"];
/** As if of containers that are gone. */
const ID = "0".repeat(63);
const UID = "00000000-0000-4000-8000-00000000000";

const WRITER = "while true; do seq 1 2000; sleep 0.2; done";

describe("planted log files", () => {
  let node: TestNode;
  let victim: string;
  let found: Map<string, string>;
  const planted: string[] = [];

  before(async () => {
    node = await startNode({ secure: true, config: CONFIG });
    victim = await mkdtemp(join(node.kubelet.dir, "victim-"));
    // As the log of a container, so that a reader which follows a link prints it.
    for (const name of ["0.log", "1.log", "0.log.20260101-000000", "0.log.20260101-000001"]) {
      await writeFile(join(victim, name), `2026-01-01T00:00:00.000000000Z stdout F ${SECRET}\n`, { mode: 0o600 });
    }
    await mkdir(join(victim, "below"));
    await writeFile(join(victim, "below", "0.log"), SECRET);
    found = await contents(victim);
    await waitSecure(node);
    await node.writeManifest("beside", manifest("beside", [shell("app", `echo first; ${WRITER}`)]));
    await node.writeManifest("planter", planter());
    // The last container ends when everything is planted.
    const pod = await waitForPod(
      node,
      "planter",
      (seen) => statusOf(seen, "last")?.state.terminated !== undefined,
      "planted",
    );
    planted.push(...["a", "b"].map((one) => join(LINKS, `planter-testnode_default_link-${ID}${one}.log`)));
    planted.push(join(node.kubelet.podLogs, `default_other_${UID}1`));
    assert.ok((await readdir(logDirectory(node, pod))).includes("folder.before"), "the files are planted");
  });
  after(async () => {
    await Promise.all(planted.map((path) => rm(path, { force: true })));
    await node.stop();
  });

  test(
    "/containerLogs returns no file of others and waits for none",
    { timeout: 4 * PATIENCE_MS * PATIENCE },
    async () => {
      for (const container of PLANTED) {
        const { status, body } = await log("planter", container);
        assert.deepEqual([status, body.includes(SECRET)], [500, false], `${container}: ${body}`);
      }
      // A terabyte without a line: the reading ends with its client, and others are served meanwhile.
      for (const query of ["limitBytes=1000", "tailLines=1"]) {
        const huge = await secureOpen(node, `/containerLogs/default/planter-testnode/huge?${query}`);
        await answers();
        huge.destroy();
      }
      await answers();
    },
  );

  test("a termination message from a planted log is empty", { timeout: 4 * PATIENCE_MS * PATIENCE }, async () => {
    const pod = await waitForPod(node, "planter", () => true, "there");
    assert.equal(statusOf(pod, "last")?.state.terminated?.message ?? "", "");
  });

  test(
    "logs are rotated beside planted files, also by the next kubelet",
    { timeout: 6 * PATIENCE_MS * PATIENCE },
    async () => {
      await rotated();
      await node.kill9();
      await node.restart();
      await waitSecure(node);
      await rotated();
      await answers();
      assert.deepEqual(await contents(victim), found);
      const own = await waitForPod(node, "planter", () => true, "there");
      const names = await waitFor(
        async () => {
          const seen = await readdir(join(logDirectory(node, own), "flood"));
          // Three files, and one more while it is compressed.
          return seen.length <= 4 && !seen.some((name) => name.includes("20200101")) ? seen : undefined;
        },
        { what: "the planted rotated files to be removed", timeoutMs: PATIENCE_MS },
      );
      assert.ok(!names.some((name) => name.includes("20200101")), names.join());
    },
  );

  test(
    "removal of the pod removes its planted files and nothing else",
    { timeout: 6 * PATIENCE_MS * PATIENCE },
    async () => {
      const pod = await waitForPod(node, "planter", () => true, "there");
      await node.removeManifest("planter");
      await waitGone(node, "planter");
      // The folder of a pod that never was is found by the next pass.
      for (const path of [logDirectory(node, pod), join(node.kubelet.podLogs, `default_none_${UID}0`)]) {
        await waitFor(
          async () =>
            await stat(path).then(
              () => false,
              () => true,
            ),
          {
            what: `${path} to be removed`,
            timeoutMs: 2 * PATIENCE_MS,
          },
        );
      }
      assert.deepEqual(await contents(victim), found);
      await answers();
      const metrics = await (await fetch(`${node.kubelet.url}/metrics`)).text();
      assert.doesNotMatch(metrics, /^nodelet_thread_restarts_total\{[^}]*\} [1-9]/m);
    },
  );

  const log = (pod: string, container: string, query = ""): ReturnType<typeof secureAsk> =>
    secureAsk(node, `/containerLogs/default/${pod}-testnode/${container}?${query}`);

  /** Another pod's log is served. */
  async function answers(): Promise<void> {
    const { status, body } = await log("beside", "app", "tailLines=1");
    assert.equal(status, 200, body);
    assert.match(body, /^\d+\n$/);
  }

  /** The logs of the other pod, and the one among planted files. */
  async function rotated(): Promise<void> {
    const rotations = (): Promise<number> => metric(node, "nodelet_log_rotations_total", { result: "ok" });
    const before = await rotations();
    await waitFor(async () => (await rotations()) >= before + 6, { what: "six rotations", timeoutMs: 2 * PATIENCE_MS });
  }

  function planter(): object {
    const link = (from: string, to: string): string => `ln -s ${from} ${to}`;
    // In one step: the kubelet has the runtime open a log again that it does not find.
    const inPlaceOf = (log: string, plant: (path: string) => string): string =>
      `${plant(`${log}.planted`)}; mv -f ${log}.planted ${log}`;
    const script = [
      "set -e",
      "cd /pods/default_planter-testnode_*",
      "for name in link fifo device huge folder last flood; do until [ -e $name/0.log ]; do sleep 0.1; done; done",
      inPlaceOf("link/0.log", (path) => link(`${victim}/0.log`, path)),
      inPlaceOf("last/0.log", (path) => link(`${victim}/0.log`, path)),
      inPlaceOf("fifo/0.log", (path) => `mkfifo ${path}`),
      inPlaceOf("device/0.log", (path) => `mknod ${path} c 1 5`),
      inPlaceOf("huge/0.log", (path) => `truncate -s 1099511627776 ${path}`),
      `mv folder folder.before; ${link(victim, "folder")}`,
      link(`${victim}/0.log`, "flood/0.log.20200101-000000"),
      link(victim, "flood/0.log.20200101-000001"),
      "mkfifo flood/0.log.20200101-000002; mknod flood/0.log.20200101-000003 c 1 5",
      "truncate -s 1099511627776 flood/0.log.20200101-000004",
      link(victim, "flood/below"),
      link(`${victim}/0.log`, `/links/planter-testnode_default_link-${ID}a.log`),
      `mkfifo fifo/pipe; ${link("$PWD/fifo/pipe", `/links/planter-testnode_default_link-${ID}b.log`)}`,
      `mkdir /pods/default_none_${UID}0; ${link(victim, `/pods/default_none_${UID}0/app`)}`,
      link(victim, `/pods/default_other_${UID}1`),
      "touch /shared/planted",
      IDLE,
    ].join("\n");
    const shared = { name: "shared", mountPath: "/shared" };
    const hand = shell("hand", script, {
      volumeMounts: [{ name: "pods", mountPath: "/pods" }, { name: "links", mountPath: "/links" }, shared],
    });
    const last = shell("last", "echo own; until [ -e /shared/planted ]; do sleep 0.1; done; exit 1", {
      terminationMessagePolicy: "FallbackToLogsOnError",
      volumeMounts: [shared],
    });
    const others = [...PLANTED, "huge"].map((name) => shell(name, `echo own; ${IDLE}`));
    const volumes = [
      { name: "pods", hostPath: { path: node.kubelet.podLogs } },
      { name: "links", hostPath: { path: LINKS } },
      { name: "shared", emptyDir: {} },
    ];
    const containers = [hand, last, ...others, shell("flood", WRITER)];
    return manifest("planter", containers, { spec: { restartPolicy: "Never", volumes } });
  }
});

async function contents(folder: string): Promise<Map<string, string>> {
  const names = (await readdir(folder, { recursive: true })).sort();
  const texts = names.map(async (name): Promise<[string, string]> => {
    const path = join(folder, name);
    return [name, (await stat(path)).isFile() ? await readFile(path, "utf8") : ""];
  });
  return new Map(await Promise.all(texts));
}
