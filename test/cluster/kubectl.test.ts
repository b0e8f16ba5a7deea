// Debian's kubectl as users have it, against the API server of the tests and a whole kubelet: objects, tables, waits
// and events.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { testImage } from "../harness/node.js";
import { boundPod, NODE_NAME, NOT_REACHABLE, startClusterNode, type ClusterNode } from "../support/cluster-node.js";
import { Kubectl } from "../support/kubectl.js";
import { IDLE, manifest, shell } from "../support/static-pods.js";

let cluster: ClusterNode;
let kubectl: Kubectl;

describe("kubectl with the objects of a cluster", { skip: NOT_REACHABLE }, () => {
  before(async () => {
    cluster = await startClusterNode({ reachable: true });
    kubectl = await Kubectl.start(cluster.api.kubeconfig());
    for (const state of ["create", "condition=Ready"]) {
      await kubectl.ok("wait", `--for=${state}`, `node/${NODE_NAME}`, "--timeout=120s");
    }
  });
  after(async () => {
    await kubectl[Symbol.asyncDispose]();
    await cluster.stop();
  });

  const typed = (pod: Record<string, unknown>): Record<string, unknown> => ({ apiVersion: "v1", kind: "Pod", ...pod });
  const applied = async (name: string, script: string, spec: Record<string, unknown> = {}): Promise<void> => {
    await kubectl.apply(typed(boundPod(name, script, spec)));
  };
  const ready = (name: string): Promise<string> =>
    kubectl.ok("wait", "--for=condition=Ready", `pod/${name}`, "--timeout=120s");
  const columns = (line: string | undefined): string[] => (line ?? "").trim().split(/\s{2,}/);

  describe("kubectl with the kubelet's objects", { concurrency: 6 }, () => {
    test("the node is listed, described and printed as the kubelet registered it", async () => {
      const [head, line] = (await kubectl.ok("get", "nodes", "-o", "wide")).split("\n").map(columns);
      assert.deepEqual(head?.slice(0, 6), ["NAME", "STATUS", "ROLES", "AGE", "VERSION", "INTERNAL-IP"]);
      assert.deepEqual([line?.[0], line?.[1], line?.[4]], [NODE_NAME, "Ready", "v1.36.0"]);
      assert.match(line?.at(-1) ?? "", /^containerd:\/\/\d/);
      const path = "jsonpath={.status.daemonEndpoints.kubeletEndpoint.Port}";
      assert.equal(
        await kubectl.ok("get", "node", NODE_NAME, "-o", path),
        new URL(cluster.node.kubelet.secureUrl).port,
      );
      const described = await kubectl.ok("describe", "node", NODE_NAME);
      for (const part of [
        /MemoryPressure +False/,
        /KubeletReady/,
        /Allocatable:/,
        /Non-terminated Pods:/,
        /HolderIdentity: +testnode/,
      ])
        assert.match(described, part);
    });

    test("a pod is applied, waited for, shown in all formats, changed and deleted", async () => {
      assert.equal(await kubectl.apply(typed(boundPod("life", IDLE))), "pod/life created\n");
      assert.equal(await ready("life"), "pod/life condition met\n");
      const [head, line] = (await kubectl.ok("get", "pod", "life", "-o", "wide")).split("\n").map(columns);
      const names = ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES"];
      assert.deepEqual(head, names);
      const ip = await kubectl.ok("get", "pod", "life", "-o", "jsonpath={.status.podIP}");
      assert.match(ip, /^\d+\.\d+\.\d+\.\d+$/);
      assert.deepEqual(line?.toSpliced(4, 1), ["life", "1/1", "Running", "0", ip, NODE_NAME, "<none>", "<none>"]);
      const json = JSON.parse(await kubectl.ok("get", "pod", "life", "-o", "json")) as Record<string, unknown>;
      assert.equal(json["kind"], "Pod");
      const yaml = await kubectl.ok("get", "pod", "life", "-o", "yaml");
      assert.match(yaml, /^apiVersion: v1\nkind: Pod\n/);
      assert.equal(await kubectl.apply(typed(boundPod("life", IDLE))), "pod/life unchanged\n");
      const labelled = boundPod("life", IDLE);
      labelled["metadata"] = { name: "life", namespace: "default", labels: { app: "life" } };
      assert.equal(await kubectl.apply(typed(labelled)), "pod/life configured\n");
      assert.equal(await kubectl.ok("get", "pods", "-l", "app=life", "-o", "name"), "pod/life\n");
      assert.match(await kubectl.ok("delete", "pods", "-l", "app=life"), /^pod "life" deleted/);
      assert.equal(
        (await kubectl.run(["get", "pod", "life"])).stderr,
        'Error from server (NotFound): pods "life" not found\n',
      );
    });

    test("a watch prints a row for each change until the pod has completed", async () => {
      await applied("short", "sleep 1", { restartPolicy: "Never" });
      const shown = kubectl.spawn(["get", "pod", "short", "-w"]);
      await shown.until((stdout) => /^short +0\/1 +Completed +0 /m.test(stdout));
      assert.match(shown.stdout, /^NAME +READY +STATUS +RESTARTS +AGE\n/);
      await shown.interrupt();
      await kubectl.ok("delete", "pod", "short");
    });

    test("describe tells the state of the containers and the kubelet's events", async () => {
      await applied("told", "exit 3", { restartPolicy: "Never" });
      await kubectl.ok("wait", "--for=jsonpath={.status.phase}=Failed", "pod/told", "--timeout=120s");
      const wanted = [
        /Status: +Failed/,
        /State: +Terminated\n +Reason: +Error\n +Exit Code: +3\n/,
        /QoS Class: +BestEffort/,
        new RegExp(`Node: +${NODE_NAME}/`),
        /Normal +Started [^\n]*kubelet/,
      ];
      let described = "";
      // Events are sent beside the statuses.
      for (let round = 0; round < 100 && !wanted.every((part) => part.test(described)); round++) {
        described = await kubectl.ok("describe", "pod", "told");
      }
      for (const part of wanted) assert.match(described, part);
      const events = await kubectl.ok("events", "--for", "pod/told");
      assert.match(events, /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n/);
      assert.match(events, /Normal +Pulled +Pod\/told /);
      assert.match(await kubectl.ok("get", "events", "--field-selector=reason=Created"), /Normal +Created +pod\/told /);
      await kubectl.ok("delete", "pod", "told");
    });

    test("a container that fails again and again shows its restarts and the back-off", async () => {
      await applied("crash", "exit 1");
      const watch = kubectl.spawn(["get", "pod", "crash", "-w"]);
      await watch.until((stdout) => /^crash +0\/1 +CrashLoopBackOff +\d+ \(\d+s ago\) /m.test(stdout));
      await watch.interrupt();
      const path = "jsonpath={.status.containerStatuses[0].lastState.terminated.exitCode}";
      assert.equal(await kubectl.ok("get", "pod", "crash", "-o", path), "1");
      await kubectl.ok("delete", "pod", "crash", "--now");
    });

    test("delete waits until the kubelet has ended the pod; by force it does not", async () => {
      await applied("ending", "trap 'sleep 1; exit 0' TERM; while true; do sleep 3600 & wait $!; done");
      await ready("ending");
      await kubectl.ok("delete", "pod", "ending");
      assert.equal(await cluster.api.find("pods", "default", "ending"), undefined);
      await applied("forced", "trap '' TERM; while true; do sleep 1; done", { terminationGracePeriodSeconds: 600 });
      await ready("forced");
      const { stderr, code } = await kubectl.run(["delete", "pod", "forced", "--force", "--grace-period=0"]);
      assert.equal(code, 0, stderr);
      assert.match(stderr, /Immediate deletion does not wait/);
      await cluster.node.waitFor((pods) => pods.every(({ metadata }) => metadata.name !== "forced"), {
        what: "the kubelet to end the forced pod",
      });
    });

    test("labels, annotations and patches reach the kubelet's pod", async () => {
      const limits = { cpu: "100m", memory: "32Mi" };
      const container = {
        ...{ name: "app", image: testImage(), imagePullPolicy: "Never", command: ["sh", "-c", IDLE] },
        resources: { limits, requests: limits },
      };
      await applied("patched", "", { containers: [container] });
      await ready("patched");
      await kubectl.ok("label", "pod", "patched", "tier=front");
      await kubectl.ok("annotate", "pod", "patched", "note=seen");
      const change = {
        spec: { containers: [{ name: "app", resources: { limits: { cpu: "200m" }, requests: { cpu: "200m" } } }] },
      };
      await kubectl.ok("patch", "pod", "patched", "--subresource=resize", "-p", JSON.stringify(change));
      const path = "--for=jsonpath={.status.containerStatuses[0].resources.limits.cpu}=200m";
      await kubectl.ok("wait", path, "pod/patched", "--timeout=120s");
      await cluster.node.waitFor((pods) => pods.some(({ metadata }) => metadata.labels?.["tier"] === "front"), {
        what: "the label in the kubelet's list",
      });
      await kubectl.ok("delete", "pod", "patched");
    });

    test("a static pod is a mirror pod that kubectl reads and runs commands in, and that returns when it is deleted", async () => {
      const name = `fixed-${NODE_NAME}`;
      await cluster.node.writeManifest("fixed", manifest("fixed", [shell("app", `echo fixed; ${IDLE}`)]));
      await kubectl.ok("wait", "--for=create", `pod/${name}`, "--timeout=120s");
      await ready(name);
      assert.equal(await kubectl.ok("logs", name), "fixed\n");
      assert.equal(await kubectl.ok("exec", name, "--", "hostname"), `${name}\n`);
      const uid = (): Promise<string> => kubectl.ok("get", "pod", name, "-o", "jsonpath={.metadata.uid}");
      const before = await uid();
      await kubectl.ok("delete", "pod", name);
      await kubectl.ok("wait", "--for=create", `pod/${name}`, "--timeout=120s");
      assert.notEqual(await uid(), before);
      await ready(name);
      await cluster.node.removeManifest("fixed");
      await kubectl.ok("wait", "--for=delete", `pod/${name}`, "--timeout=120s");
    });

    test("the node's proxy gives the kubelet's pages, and top says that there are no metrics", async () => {
      const raw = (path: string): Promise<string> =>
        kubectl.ok("get", "--raw", `/api/v1/nodes/${NODE_NAME}/proxy/${path}`);
      assert.equal(await raw("healthz"), "ok");
      const summary = JSON.parse(await raw("stats/summary")) as { node: { nodeName: string } };
      assert.equal(summary.node.nodeName, NODE_NAME);
      assert.match(await raw("configz"), /"kubeletconfig"/);
      const { code, stderr } = await kubectl.run(["top", "pods"]);
      assert.deepEqual([code, stderr], [1, "error: Metrics API not available\n"]);
    });
  });

  test("drain evicts the pods of the node and keeps new ones out until it is uncordoned", async () => {
    await applied("evicted", IDLE);
    await ready("evicted");
    const { code, stdout, stderr } = await kubectl.run(["drain", NODE_NAME, "--force", "--timeout=120s"]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /pod\/evicted evicted\n/);
    assert.match(await kubectl.ok("get", "nodes"), /Ready,SchedulingDisabled/);
    assert.equal(await cluster.api.find("pods", "default", "evicted"), undefined);
    assert.equal(await kubectl.ok("uncordon", NODE_NAME), `node/${NODE_NAME} uncordoned\n`);
  });
});
