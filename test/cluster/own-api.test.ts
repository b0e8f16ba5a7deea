// Debian's kubectl, unchanged, against a node without a cluster that serves the API itself: objects, pods and streams.

import assert from "node:assert/strict";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { testImage, waitFor } from "../harness/node.js";
import { freePort } from "../support/free-port.js";
import type { Kubectl } from "../support/kubectl.js";
import { OwnApiNode } from "../support/own-api-node.js";
import { IDLE, manifest, shell } from "../support/static-pods.js";

let own: OwnApiNode;
let kubectl: Kubectl;

const NODE = "testnode";
const container = (script: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...{ name: "app", image: testImage(), imagePullPolicy: "Never", command: ["sh", "-c", script] },
  ...more,
});
const pod = (name: string, containers: unknown[], spec: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name } },
  spec: { terminationGracePeriodSeconds: 2, containers, ...spec },
});
const ready = (name: string): Promise<string> =>
  kubectl.ok("wait", "--for=condition=Ready", `pod/${name}`, "--timeout=120s");
const columns = (line: string | undefined): string[] => (line ?? "").trim().split(/\s{2,}/);

describe("kubectl on a node without a cluster", () => {
  before(async () => {
    own = await OwnApiNode.start({ env: { NODELET_FAULTS: "1" } });
    ({ kubectl } = own);
  });
  after(async () => {
    await own[Symbol.asyncDispose]();
  });

  test("the node, its namespaces and the server's version are shown", async () => {
    const [head, line] = (await kubectl.ok("get", "nodes")).split("\n").map(columns);
    assert.deepEqual(head, ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]);
    assert.deepEqual([line?.[0], line?.[1]], [NODE, "Ready"]);
    assert.match(await kubectl.ok("version"), /Server Version: v1\.36/);
    assert.match(await kubectl.ok("get", "namespaces"), /^default +Active /m);
    const resources = await kubectl.ok("api-resources");
    for (const kind of ["Pod", "ConfigMap", "Secret", "PersistentVolumeClaim", "Event", "Node", "Lease"])
      assert.match(resources, new RegExp(` ${kind}$`, "m"));
    assert.doesNotMatch(resources, /RuntimeClass/);
    // The lease is made beside the node.
    await waitFor(async () => /HolderIdentity: +testnode/.test(await kubectl.ok("describe", "node", NODE)), {
      what: "the lease",
    });
    assert.equal(await kubectl.ok("auth", "can-i", "create", "pods"), "yes\n");
  });

  test("a pod is applied, shown in every format, changed, logged, entered and deleted", async () => {
    assert.equal(await kubectl.apply(pod("life", [container(`echo started; ${IDLE}`)])), "pod/life created\n");
    await ready("life");
    const [head, line] = (await kubectl.ok("get", "pods", "-o", "wide")).split("\n").map(columns);
    assert.deepEqual(head?.slice(0, 7), ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"]);
    assert.deepEqual([line?.slice(0, 4), line?.[6]], [["life", "1/1", "Running", "0"], NODE]);
    assert.match(await kubectl.ok("get", "pod", "life", "-o", "yaml"), /^apiVersion: v1\nkind: Pod\n/);
    assert.equal(await kubectl.apply(pod("life", [container(`echo started; ${IDLE}`)])), "pod/life unchanged\n");
    assert.equal(await kubectl.ok("label", "pod", "life", "tier=front"), "pod/life labeled\n");
    assert.equal(await kubectl.ok("get", "pods", "-l", "tier=front", "-o", "name"), "pod/life\n");
    await waitFor(async () => (await kubectl.ok("logs", "life")) === "started\n", { what: "the line in the log" });
    assert.equal(await kubectl.ok("exec", "life", "--", "hostname"), "life\n");
    const described = await kubectl.ok("describe", "pod", "life");
    assert.match(described, /QoS Class: +BestEffort/);
    assert.match(await kubectl.ok("delete", "pod", "life"), /^pod "life" deleted/);
    const missing = await kubectl.run(["get", "pod", "life"]);
    assert.equal(missing.stderr, 'Error from server (NotFound): pods "life" not found\n');
  });

  test("a watch prints the rows of a pod that completes, and wait sees its end", async () => {
    const watch = kubectl.spawn(["get", "pods", "-w"]);
    await kubectl.apply(pod("short", [container("echo done")], { restartPolicy: "Never" }));
    await watch.until((stdout) => /^short +0\/1 +Completed +0 /m.test(stdout));
    await watch.interrupt();
    await kubectl.ok("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/short");
    // Events are sent beside the statuses.
    await waitFor(async () => /Normal +Started +Pod\/short /.test(await kubectl.ok("events", "--for", "pod/short")), {
      what: "the kubelet's event",
    });
    await kubectl.ok("delete", "pod", "short", "--now");
  });

  test("config maps, secrets and claims reach the pod, also when they change", async () => {
    await kubectl.ok("create", "configmap", "settings", "--from-literal=greeting=hello");
    await kubectl.ok("create", "secret", "generic", "keys", "--from-literal=key=sesame");
    await kubectl.apply({
      ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" } },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    assert.match(await kubectl.ok("get", "pvc", "data"), /^data +Bound +pvc-\S+ +1Gi +RWO +local /m);
    const mounts = ["settings", "keys", "data"].map((name) => ({ name, mountPath: `/${name}` }));
    const env = [{ name: "GREETING", valueFrom: { configMapKeyRef: { name: "settings", key: "greeting" } } }];
    const script = `echo $GREETING; cat /keys/key; echo; echo kept > /data/file; ${IDLE}`;
    const volumes = [
      { name: "settings", configMap: { name: "settings" } },
      { name: "keys", secret: { secretName: "keys" } },
      { name: "data", persistentVolumeClaim: { claimName: "data" } },
    ];
    await kubectl.apply(pod("fed", [container(script, { env, volumeMounts: mounts })], { volumes }));
    await ready("fed");
    await waitFor(async () => (await kubectl.ok("logs", "fed")) === "hello\nsesame\n", {
      what: "both values in the log",
    });
    await kubectl.ok("exec", "fed", "--", "sh", "-c", "until [ -s /data/file ]; do sleep 0.1; done");
    assert.equal(await readFile(own.file("volumes/default/data/file"), "utf8"), "kept\n");
    const secret = await stat(own.file("store/objects/secrets/default/keys.json"));
    assert.equal(secret.mode & 0o777, 0o600);
    await kubectl.ok("patch", "configmap", "settings", "-p", '{"data":{"greeting":"bye"}}');
    await waitFor(async () => (await kubectl.ok("exec", "fed", "--", "cat", "/settings/greeting")) === "bye", {
      what: "the new text in the pod",
      timeoutMs: 120_000,
    });
    await kubectl.ok("delete", "pvc", "data", "--wait=false");
    assert.match(await kubectl.ok("get", "pvc", "data"), /^data +Terminating /m);
    await kubectl.ok("delete", "pod", "fed", "--now");
    await kubectl.ok("wait", "--for=delete", "pvc/data");
  });

  test("server-side apply owns its fields, and another applier gets a conflict", async () => {
    const map = (value: string): string =>
      JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owned" }, data: { key: value } });
    const apply = (manager: string, value: string, ...more: string[]) =>
      kubectl.run(["apply", "--server-side", `--field-manager=${manager}`, "-f", "-", ...more], { input: map(value) });
    assert.equal((await apply("one", "1")).stdout, "configmap/owned serverside-applied\n");
    const refused = await apply("two", "2");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /Apply failed with 1 conflict: conflict with "one": \.data\.key/);
    assert.equal((await apply("two", "2", "--force-conflicts")).code, 0);
    const path = "jsonpath={.data.key} {.metadata.managedFields[*].manager}";
    assert.equal(await kubectl.ok("get", "configmap", "owned", "-o", path, "--show-managed-fields"), "2 two");
    await kubectl.ok("delete", "configmap", "owned");
  });

  test("create, replace, edit, diff and patches of each kind change an object", async () => {
    await kubectl.ok("create", "configmap", "changed", "--from-literal=a=1");
    const text = JSON.parse(await kubectl.ok("get", "configmap", "changed", "-o", "json")) as { data: object };
    text.data = { a: "2" };
    await kubectl.okWith({ input: JSON.stringify(text) }, "replace", "-f", "-");
    const stale = await kubectl.run(["replace", "-f", "-"], { input: JSON.stringify(text) });
    assert.match(stale.stderr, /the object has been modified/);
    await kubectl.ok(
      "patch",
      "configmap",
      "changed",
      "--type=json",
      "-p",
      '[{"op":"add","path":"/data/b","value":"3"}]',
    );
    await kubectl.ok("patch", "configmap", "changed", "--type=merge", "-p", '{"data":{"c":"4"}}');
    await kubectl.okWith({ env: { KUBE_EDITOR: "sed -i s/'\"4\"'/'\"5\"'/" } }, "edit", "configmap", "changed");
    assert.equal(
      await kubectl.ok("get", "configmap", "changed", "-o", "jsonpath={.data}"),
      '{"a":"2","b":"3","c":"5"}',
    );
    const wanted = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "changed" }, data: { a: "9" } };
    const diff = await kubectl.run(["diff", "-f", "-"], { input: JSON.stringify(wanted) });
    assert.equal(diff.code, 1, diff.stderr);
    assert.match(diff.stdout, /^\+ +a: "9"$/m);
    const bad = { ...wanted, metadata: { name: "wrong" }, date: {} };
    const refused = await kubectl.run(["apply", "-f", "-"], { input: JSON.stringify(bad) });
    assert.match(refused.stderr, /strict decoding error: unknown field "date"/);
    await kubectl.ok("delete", "configmap", "changed");
  });

  test("a kind that needs a cluster is refused by its name, with a hint", async () => {
    const meta = { metadata: { name: "web" } };
    const kinds: Readonly<Record<string, string>> = {
      Deployment: "apps/v1",
      Job: "batch/v1",
      CustomResourceDefinition: "apiextensions.k8s.io/v1",
      Widget: "example.com/v1",
      Service: "v1",
    };
    for (const [kind, apiVersion] of Object.entries(kinds)) {
      const input = JSON.stringify({ apiVersion, kind, ...meta, spec: {} });
      for (const command of ["apply", "create", "replace", "delete", "diff"]) {
        const { code, stderr } = await kubectl.run([command, "-f", "-"], { input });
        assert.notEqual(code, 0, `${command} ${kind}`);
        assert.ok(stderr.includes(`no matches for kind "${kind}" in version "${apiVersion}"`), `${command}: ${stderr}`);
        const isAsked = ["apply", "create", "replace"].includes(command) && kind !== "Service";
        if (isAsked) assert.match(stderr, /Warning: a node without a cluster serves pods/, command);
      }
    }
    const made = await kubectl.run(["create", "deployment", "web", "--image=web"]);
    assert.match(made.stderr, /need a cluster[^]*could not find the requested resource/);
    const explained = await kubectl.run(["explain", "deployment"]);
    assert.match(explained.stderr, /the server doesn't have a resource type "deployment"/);
    assert.match((await kubectl.run(["get", "all"])).stderr, /^No resources found in default namespace/);
  });

  test("unknown fields are refused, shown or ignored as the user asks, in lists too", async () => {
    const map = (name: string, more = {}): object => ({
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { key: "1" }, ...more },
    });
    const apply = (object: object, ...more: string[]) =>
      kubectl.run(["apply", "-f", "-", ...more], { input: JSON.stringify(object) });
    const list = (...items: object[]): object => ({ apiVersion: "v1", kind: "List", items });
    assert.match((await apply(map("one", { date: {} }))).stderr, /strict decoding error: unknown field "date"/);
    const warned = await apply(map("one", { date: {} }), "--validate=warn");
    assert.deepEqual([warned.stdout, warned.code], ["configmap/one created\n", 0]);
    assert.match(warned.stderr, /Warning: unknown field "date"/);
    const ignored = await apply(map("two", { date: {} }), "--validate=ignore");
    assert.deepEqual([ignored.stdout, ignored.stderr], ["configmap/two created\n", ""]);
    assert.equal(
      (await apply(list(map("three"), map("four")))).stdout,
      "configmap/three created\nconfigmap/four created\n",
    );
    assert.match((await apply(list(map("three", { date: {} })))).stderr, /strict decoding error: unknown field "date"/);
    await kubectl.ok("delete", "configmap", "one", "two", "three", "four");
  });

  test("explain names the fields of a kind", async () => {
    const text = await kubectl.ok("explain", "pod.spec.containers.livenessProbe");
    assert.match(text, /KIND: +Pod/);
    assert.match(text, /periodSeconds\s+<integer>/);
  });

  test("attach, cp, port-forward and top work as in a cluster", async () => {
    const serve = "mkdir -p /www; echo page > /www/index.html; httpd -p 8080 -h /www";
    await kubectl.apply(pod("tools", [container(`${serve}; cat`, { stdin: true })]));
    await ready("tools");
    const attached = kubectl.spawn(["attach", "-i", "tools"]);
    await waitFor(
      () => {
        attached.child.stdin.write("hello\n");
        return attached.stdout.includes("hello\n");
      },
      { what: "the input's echo", intervalMs: 200, lastSeen: () => attached.stderr },
    );
    await attached.interrupt();
    const file = join(kubectl.dir, "file");
    await writeFile(file, "content\n");
    await kubectl.ok("cp", file, "tools:/tmp/file");
    assert.equal(await kubectl.ok("exec", "tools", "--", "cat", "/tmp/file"), "content\n");
    const port = await freePort();
    const forward = kubectl.spawn(["port-forward", "pod/tools", `${port}:8080`]);
    await forward.until((stdout) => stdout.includes("Forwarding from 127"));
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/index.html`)).text(), "page\n");
    await forward.interrupt();
    assert.match(await kubectl.ok("top", "nodes"), /^testnode +\d+m /m);
    await waitFor(async () => /^tools +\d+m +\d+Mi/m.test((await kubectl.run(["top", "pods"])).stdout), {
      what: "usage of the pod",
    });
    await kubectl.ok("delete", "pod", "tools", "--force", "--grace-period=0");
  });

  test("run starts a pod and passes its input on; debug looks into it; drain evicts it", async () => {
    const image = [`--image=${testImage()}`, "--image-pull-policy=Never"];
    const once = await kubectl.run(
      [
        "run",
        "visitor",
        "--rm",
        "-i",
        "-q",
        "--restart=Never",
        ...image,
        "--",
        "sh",
        "-c",
        "read -r line; echo got $line",
      ],
      { input: "hello\n" },
    );
    assert.equal(once.code, 0, once.stderr);
    assert.match(once.stdout, /^got hello$/m);
    await kubectl.ok("run", "target", ...image, "--", "sh", "-c", IDLE);
    await ready("target");
    const debug = kubectl.spawn([
      "debug",
      "target",
      `--image=${testImage()}`,
      "-c",
      "look",
      "--target=target",
      "-i",
      "-q",
    ]);
    debug.child.stdin.write("ps; exit\n");
    assert.match((await debug.ended()).stdout, /sleep/);
    const { code, stdout, stderr } = await kubectl.run(["drain", NODE, "--force", "--timeout=120s"]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /pod\/target evicted/);
    await kubectl.ok("uncordon", NODE);
  });

  test("a static pod is shown, and comes back when it is deleted", async () => {
    const name = `fixed-${NODE}`;
    await own.node.writeManifest("fixed", manifest("fixed", [shell("app", `echo fixed; ${IDLE}`)]));
    await kubectl.ok("wait", "--for=create", `pod/${name}`, "--timeout=120s");
    await ready(name);
    await waitFor(async () => (await kubectl.ok("logs", name)) === "fixed\n", { what: "the line in the log" });
    await kubectl.ok("delete", "pod", name);
    await kubectl.ok("wait", "--for=create", `pod/${name}`, "--timeout=120s");
    await own.node.removeManifest("fixed");
    await kubectl.ok("wait", "--for=delete", `pod/${name}`, "--timeout=120s");
  });

  test("files of objects are edited, added and removed by hand while the kubelet runs", async () => {
    await kubectl.ok("create", "configmap", "filed", "--from-literal=key=1");
    const map = own.file("store/objects/configmaps/default/filed.json");
    await waitFor(async () => (await stat(map).catch(() => undefined)) !== undefined, { what: "the file" });
    const watch = kubectl.spawn(["get", "configmap", "filed", "-w", "-o", "jsonpath={.data.key};"]);
    await watch.until((stdout) => stdout === "1;");
    await writeFile(map, (await readFile(map, "utf8")).replace('"key": "1"', '"key": "2"'));
    await watch.until((stdout) => stdout === "1;2;");
    await watch.interrupt();
    const path = own.file("store/objects/pods/default/filed.json");
    await writeFile(path, JSON.stringify(pod("filed", [container(IDLE)])));
    await kubectl.ok("wait", "--for=create", "pod/filed", "--timeout=120s");
    await ready("filed");
    // A status may be written in the same moment.
    const isGone = async (): Promise<boolean> => {
      await rm(path, { force: true });
      return (await kubectl.run(["get", "pod", "filed"])).code !== 0;
    };
    await waitFor(isGone, { what: "the end of the pod", intervalMs: 3000, timeoutMs: 120_000 });
    await rm(map);
    await kubectl.ok("wait", "--for=delete", "configmap/filed", "--timeout=120s");
  });

  test("a reader of the readers' file may look and change nothing, and sees no secret", async () => {
    await writeFile(own.file("readers"), "visitor # looks only\n");
    await waitFor(
      () =>
        own.as("visitor").then(
          (made) => made[Symbol.asyncDispose]().then(() => true),
          () => false,
        ),
      {
        what: "the reader's kubeconfig",
      },
    );
    await using visitor = await own.as("visitor");
    await waitFor(async () => (await visitor.run(["get", "pods"])).code === 0, { what: "the reader's rights" });
    for (const args of [
      ["get", "secrets"],
      ["delete", "node", NODE],
      ["create", "configmap", "mine"],
      ["delete", "namespace", "default"],
      ["get", "--raw", `/api/v1/nodes/${NODE}/proxy/configz`],
    ]) {
      const { code, stderr } = await visitor.run(args);
      assert.equal(code, 1, args.join(" "));
      assert.match(stderr, /forbidden/i, args.join(" "));
    }
    assert.equal((await visitor.run(["auth", "can-i", "delete", "pods"])).stdout, "no\n");
    const watch = visitor.spawn(["get", "pods", "-A", "--watch-only", "-o", "name"]);
    await kubectl.ok("run", "seen", `--image=${testImage()}`, "--image-pull-policy=Never", "--", "sh", "-c", IDLE);
    await watch.until((stdout) => stdout.includes("pod/seen"));
    await rm(own.file("readers"));
    await watch.ended();
    assert.match((await visitor.run(["get", "pods"])).stderr, /forbidden/i);
    await kubectl.ok("delete", "pod", "seen", "--now");
  });

  test("the API and the node's lease come back after the server's thread has ended", async () => {
    const { kubelet } = own.node;
    const lease = ["get", "lease", NODE, "-n", "kube-node-lease", "-o", "jsonpath={.spec.renewTime}"];
    const renewed = await kubectl.ok(...lease);
    await writeFile(join(kubelet.rootDir, "nodelet", "fault"), "terminate apiserver");
    process.kill(kubelet.pid ?? assert.fail("the kubelet runs"), "SIGUSR2");
    await waitFor(
      async () => {
        const { code, stdout } = await kubectl.run(lease);
        return code === 0 && stdout > renewed;
      },
      { what: "the lease to be renewed", timeoutMs: 120_000 },
    );
    const ended = (await readFile(kubelet.log, "utf8")).split("\n").filter((line) => line.includes("thread exited"));
    assert.ok(
      ended.some((line) => line.includes('"thread":"apiserver"') && line.includes("terminated")),
      ended.join("\n"),
    );
    assert.ok(
      ended.some((line) => line.includes('"thread":"node-status"')),
      ended.join("\n"),
    );
  });

  test("objects and pods outlive a kill of the kubelet", async () => {
    await kubectl.ok("create", "configmap", "kept", "--from-literal=a=1");
    await kubectl.apply(pod("survivor", [container(IDLE)]));
    await ready("survivor");
    const id = "jsonpath={.status.containerStatuses[0].containerID}";
    const before = await kubectl.ok("get", "pod", "survivor", "-o", id);
    await own.node.kill9();
    await own.node.restart();
    await waitFor(async () => (await kubectl.run(["get", "configmap", "kept"])).code === 0, { what: "the config map" });
    await kubectl.ok("wait", "--for=condition=Ready", "pod/survivor", "--timeout=120s");
    assert.equal(await kubectl.ok("get", "pod", "survivor", "-o", id), before);
    await kubectl.ok("delete", "pod", "survivor", "--now");
  });
});
