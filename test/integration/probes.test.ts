// Probes of every kind on a real node: pods turn Ready and back by what their probes say.
import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Container } from "../../src/shared/api/pod.js";
import { startNode, type PodView, type TestNode } from "../harness/node.js";
import { conditionsOf, IDLE, manifest, shell, statusOf, waitForPod } from "../support/static-pods.js";

let node: TestNode;
let ctl: string;

before(async () => {
  node = await startNode({ env: { NODELET_FAULTS: "1" } });
  ctl = join(node.kubelet.dir, "ctl");
  await mkdir(ctl);
});
after(() => node.stop());

const ready = (pod: PodView): boolean => conditionsOf(pod)["Ready"] === "True";
const notReady = (pod: PodView): boolean =>
  statusOf(pod, "app")?.state.running !== undefined && conditionsOf(pod)["Ready"] === "False";
const FAST = { periodSeconds: 1, failureThreshold: 1 };
const controlled = { volumes: [{ name: "ctl", hostPath: { path: "" } }] };
const mounts = { volumeMounts: [{ name: "ctl", mountPath: "/ctl" }] };

function pod(name: string, containers: Container[], spec: object = {}) {
  const volumes = controlled.volumes.map((volume) => ({ ...volume, hostPath: { path: ctl } }));
  return manifest(name, containers, { spec: { volumes, ...spec } });
}

describe("probes", { concurrency: 6 }, () => {
  test("readiness by exec: Ready follows a file, both ways", async () => {
    const readinessProbe = { ...FAST, exec: { command: ["test", "-e", "/ctl/ready"] } };
    await node.writeManifest("exec", pod("exec", [shell("app", IDLE, { readinessProbe, ...mounts })]));
    const before = await waitForPod(node, "exec", notReady, "running and not Ready");
    await writeFile(join(ctl, "ready"), "");
    await waitForPod(node, "exec", ready, "Ready");
    await rm(join(ctl, "ready"));
    const later = await waitForPod(node, "exec", notReady, "not Ready again");
    assert.equal(statusOf(later, "app")?.containerID, statusOf(before, "app")?.containerID);
  });

  test("readiness by HTTP: a web server with a named port", async () => {
    const readinessProbe = { ...FAST, httpGet: { path: "/ok", port: "web" } };
    const script = `mkdir /www; httpd -f -p 8080 -h /www & sleep 2; touch /www/ok; ${IDLE}`;
    const ports = [{ name: "web", containerPort: 8080 }];
    await node.writeManifest("http", pod("http", [shell("app", script, { readinessProbe, ports })]));
    await waitForPod(node, "http", notReady, "not Ready while the page is missing");
    await waitForPod(node, "http", ready, "Ready");
  });
});
