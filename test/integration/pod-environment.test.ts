// The environment of a container: command, variables, host name, hosts file, resolver, ports, and the source of its
// image.
// @promise Pods: Sandbox and container configuration follow the manifest, observed from inside of containers.
// @with test/integration/pod-security.test.ts, test/integration/pod-volumes.test.ts,
//   test/integration/pod-resources.test.ts

import assert from "node:assert/strict";
import { mkdtemp, readlink, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startNode, testImage, waitFor, type PodView, type TestNode } from "../harness/node.js";
import {
  conditionsOf,
  IDLE,
  manifest,
  NODE_NAME,
  PATIENCE_MS,
  podOf,
  report,
  reporter,
  RuntimeView,
  shell,
  statusOf,
  values,
  waitForPod,
} from "../support/static-pods.js";

const HOST_PORT = 18087;
let folder: string;
let node: TestNode;
let runtime: RuntimeView;

before(async () => {
  folder = await mkdtemp(join(process.env["NODELET_TEST_DIR"] ?? "", "environment-"));
  const resolvConf = join(folder, "resolv.conf");
  await writeFile(resolvConf, "# a comment\nnameserver 192.0.2.53\nsearch corp.example.org. lan\noptions timeout:3\n");
  // As some hardened machines start their services.
  const umask = process.umask(0o077);
  node = await startNode({ config: { resolvConf, clusterDNS: ["192.0.2.10"], clusterDomain: "cluster.local" } });
  process.umask(umask);
  runtime = new RuntimeView(node.endpoint);
});
after(async () => {
  runtime.close();
  await node.stop();
  await rm(folder, { recursive: true, force: true });
});

const resolver = reporter("app", "cat /etc/resolv.conf");
const waiting = (pod: PodView) => statusOf(pod, "app")?.state.waiting;

/** Everything a TCP server sends until it closes. */
function ask(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect({ host, port, timeout: 2_000 });
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    socket.on("error", reject).on("close", () => resolve(text));
    socket.on("timeout", () => socket.destroy(new Error("no answer in 2 s")));
  });
}

describe("environment of a container", { concurrency: 6 }, () => {
  test("command, arguments, variables and the downward API", async () => {
    const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
    const resource = (name: string, of: string, divisor?: string) => ({
      name,
      valueFrom: { resourceFieldRef: { resource: of, ...(divisor === undefined ? {} : { divisor }) } },
    });
    const app = reporter("app", 'echo "ARG=$1"; echo "CWD=$(pwd)"; env', {
      args: ["sh", "$(GREETING) $$(GREETING) $(NOBODY) $5"],
      workingDir: "/var",
      resources: { limits: { cpu: "250m", memory: "64Mi" }, requests: { cpu: "100m" } },
      env: [
        { name: "GREETING", value: "hello" },
        { name: "COMBINED", value: "$(GREETING)-world" },
        { name: "EARLY", value: "$(LATE)" },
        { name: "LATE", value: "late" },
        { name: "ESCAPED", value: "$$(GREETING)" },
        field("POD_NAME", "metadata.name"),
        field("POD_NAMESPACE", "metadata.namespace"),
        field("POD_UID", "metadata.uid"),
        field("LABEL", "metadata.labels['tier']"),
        field("ANNOTATION", "metadata.annotations['example.org/note']"),
        field("NODE", "spec.nodeName"),
        field("POD_IP", "status.podIP"),
        field("POD_IPS", "status.podIPs"),
        field("HOST_IP", "status.hostIP"),
        resource("CPU_LIMIT", "limits.cpu"),
        resource("CPU_MILLI", "limits.cpu", "1m"),
        resource("CPU_REQUEST", "requests.cpu", "1m"),
        resource("MEMORY", "limits.memory", "1Mi"),
      ],
    });
    const metadata = { namespace: "team", labels: { tier: "web" }, annotations: { "example.org/note": "a note" } };
    await node.writeManifest("env", manifest("env", [app], { metadata }));
    const env = values(await report(node, "env", "app"));
    const pod = await waitForPod(node, "env", (view) => conditionsOf(view)["Ready"] === "True", "Ready");
    const expected = {
      ARG: "hello $(GREETING) $(NOBODY) $5",
      CWD: "/var",
      GREETING: "hello",
      COMBINED: "hello-world",
      EARLY: "$(LATE)",
      ESCAPED: "$(GREETING)",
      POD_NAME: `env-${NODE_NAME}`,
      POD_NAMESPACE: "team",
      POD_UID: pod.metadata.uid,
      LABEL: "web",
      ANNOTATION: "a note",
      NODE: NODE_NAME,
      POD_IP: pod.status?.podIP,
      POD_IPS: pod.status?.podIP,
      HOST_IP: pod.status?.hostIP,
      CPU_LIMIT: "1",
      CPU_MILLI: "250",
      CPU_REQUEST: "100",
      MEMORY: "64",
      HOSTNAME: `env-${NODE_NAME}`,
    };
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, env[key]])), expected);
    assert.equal(pod.status?.qosClass, "Burstable");
  });

  test("arguments without a command go to the image's own", async () => {
    const app = { name: "app", image: testImage(), args: ["sh", "-c", `echo ran; echo END; ${IDLE}`] };
    await node.writeManifest("args", manifest("args", [app]));
    assert.deepEqual(await report(node, "args", "app"), ["ran"]);
  });

  test("a container of any user reads its hosts file, whatever the umask of the kubelet's parent is", async () => {
    await node.writeManifest("modes", manifest("modes", [reporter("app", "stat -c %a /etc/hosts")]));
    assert.deepEqual(await report(node, "modes", "app"), ["644"]);
  });

  test("host name, domain and hosts file", async () => {
    const pod = manifest("hosts", [reporter("app", "hostname; cat /etc/hosts")], {
      spec: {
        hostname: "box",
        subdomain: "sub",
        hostAliases: [
          { ip: "192.0.2.7", hostnames: ["seven", "seven.example.org"] },
          { ip: "192.0.2.8", hostnames: ["eight"] },
        ],
      },
    });
    await node.writeManifest("hosts", pod);
    const [name, ...file] = await report(node, "hosts", "app");
    const { status } = await waitForPod(node, "hosts", (view) => view.status?.podIP !== undefined, "its address");
    assert.equal(name, "box");
    assert.deepEqual(
      file.filter((line) => line !== ""),
      [
        "# Kubernetes-managed hosts file.",
        "127.0.0.1\tlocalhost",
        "::1\tlocalhost ip6-localhost ip6-loopback",
        "fe00::0\tip6-localnet",
        "fe00::0\tip6-mcastprefix",
        "fe00::1\tip6-allnodes",
        "fe00::2\tip6-allrouters",
        `${status?.podIP ?? ""}\tbox.sub.default.svc.cluster.local\tbox`,
        "# Entries added by HostAliases.",
        "192.0.2.7\tseven\tseven.example.org",
        "192.0.2.8\teight",
      ],
    );
  });

  test("a mount of one's own at /etc/hosts wins", async () => {
    const own = join(folder, "own-hosts");
    await writeFile(own, "192.0.2.1\tmine\n");
    const volumeMounts = [{ name: "hosts", mountPath: "/etc/hosts" }];
    const spec = { volumes: [{ name: "hosts", hostPath: { path: own, type: "File" as const } }] };
    await node.writeManifest("own", manifest("own", [reporter("app", "cat /etc/hosts", { volumeMounts })], { spec }));
    assert.deepEqual(await report(node, "own", "app"), ["192.0.2.1\tmine"]);
  });

  test("on the node's network: its addresses, its name, its hosts file", async () => {
    const app = reporter("app", 'hostname; head -1 /etc/hosts; echo "NET=$(readlink /proc/self/ns/net)"');
    const spec = { hostNetwork: true, hostAliases: [{ ip: "192.0.2.7", hostnames: ["seven"] }] };
    await node.writeManifest("host-net", manifest("host-net", [app], { spec }));
    const [name, first, net] = await report(node, "host-net", "app");
    const { status } = await waitForPod(node, "host-net", (view) => view.status?.podIP !== undefined, "its address");
    assert.equal(name, hostname());
    assert.equal(first, "# Kubernetes-managed hosts file (host network).");
    assert.equal(net, `NET=${await readlink("/proc/self/ns/net")}`);
    assert.equal(status?.podIP, status?.hostIP);
  });

  test("dnsPolicy None: only the values of dnsConfig", async () => {
    const dnsConfig = {
      nameservers: ["192.0.2.99"],
      searches: ["a.example.org", "b.example.org"],
      options: [{ name: "ndots", value: "2" }, { name: "edns0" }],
    };
    await node.writeManifest("dns-none", manifest("dns-none", [resolver], { spec: { dnsPolicy: "None", dnsConfig } }));
    assert.deepEqual((await report(node, "dns-none", "app")).sort(), [
      "nameserver 192.0.2.99",
      "options ndots:2 edns0",
      "search a.example.org b.example.org",
    ]);
  });

  test("dnsPolicy Default: the node's, and dnsConfig after it", async () => {
    const dnsConfig = { nameservers: ["192.0.2.99", "192.0.2.53"], searches: ["lan", "more.example.org"] };
    const spec = { dnsPolicy: "Default" as const, dnsConfig };
    await node.writeManifest("dns-default", manifest("dns-default", [resolver], { spec }));
    assert.deepEqual((await report(node, "dns-default", "app")).sort(), [
      "nameserver 192.0.2.53",
      "nameserver 192.0.2.99",
      "options timeout:3",
      // Of several search lines or names the order counts; the trailing dot is cut.
      "search corp.example.org lan more.example.org",
    ]);
  });

  test("dnsPolicy ClusterFirst: the cluster's server and domains before the node's", async () => {
    const spec = { dnsPolicy: "ClusterFirst" as const };
    await node.writeManifest("dns-cluster", manifest("dns-cluster", [resolver], { spec }));
    assert.deepEqual((await report(node, "dns-cluster", "app")).sort(), [
      "nameserver 192.0.2.10",
      "options ndots:5",
      "search default.svc.cluster.local svc.cluster.local cluster.local corp.example.org lan",
    ]);
  });

  test("a host port reaches the container", async () => {
    const ports = [{ name: "web", containerPort: 8080, hostPort: HOST_PORT, protocol: "TCP" as const }];
    const app = shell("app", "exec nc -ll -p 8080 -e echo ok", { ports });
    await node.writeManifest("port", manifest("port", [app]));
    const pod = await waitForPod(node, "port", (view) => conditionsOf(view)["Ready"] === "True", "Ready");
    await waitFor(async () => (await ask(pod.status?.podIP ?? "", 8080)) === "ok\n", {
      what: "a response on the pod's address",
      timeoutMs: PATIENCE_MS,
    });
    const addresses = Object.values(networkInterfaces())
      .flatMap((infos) => infos ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal)
      .map(({ address }) => address);
    assert.ok(addresses.length > 0);
    for (const address of addresses) {
      await waitFor(async () => (await ask(address, HOST_PORT)) === "ok\n", {
        what: `an answer on ${address}:${HOST_PORT}`,
        timeoutMs: PATIENCE_MS,
      });
    }
    const [container] = await runtime.containers(pod.metadata.uid);
    assert.deepEqual(JSON.parse(container?.annotations["io.kubernetes.container.ports"] ?? "null"), ports);
  });

  test("imagePullPolicy Never without the image: ErrImageNeverPull", async () => {
    const image = "nodelet.local/absent:1";
    const app = shell("app", IDLE, { image, imagePullPolicy: "Never" });
    await node.writeManifest("never", manifest("never", [app]));
    const pod = await waitForPod(node, "never", (view) => waiting(view)?.reason === "ErrImageNeverPull", "refused");
    assert.equal(waiting(pod)?.message, `Container image "${image}" is not present with pull policy of Never`);
    assert.equal(pod.status?.phase, "Pending");
    assert.equal(statusOf(pod, "app")?.image, image);
  });

  test("an image that no registry gives: ErrImagePull, then ImagePullBackOff", async () => {
    // Port 9 of this network namespace: refused at once.
    const image = "127.0.0.1:9/absent:1";
    await node.writeManifest("pull", manifest("pull", [shell("app", IDLE, { image }), shell("fine", IDLE)]));
    // It is shown for a second after each pull that failed: a slow machine misses some of them.
    const failed = await waitFor(
      async () => {
        const view = podOf(await node.pods(), "pull");
        return view !== undefined && waiting(view)?.reason === "ErrImagePull" ? view : undefined;
      },
      { what: "ErrImagePull", timeoutMs: 3 * PATIENCE_MS, intervalMs: 20 },
    );
    const why = waiting(failed)?.message ?? "";
    assert.match(why, /connection refused/);
    const held = await waitForPod(
      node,
      "pull",
      (view) => waiting(view)?.reason === "ImagePullBackOff",
      "ImagePullBackOff",
    );
    assert.equal(waiting(held)?.message, `Back-off pulling image "${image}": ErrImagePull: ${why}`);
    assert.equal(held.status?.phase, "Pending");
    await waitForPod(
      node,
      "pull",
      (view) => statusOf(view, "fine")?.state.running !== undefined,
      "its other container running",
    );
  });

  test("an image name that is none: InvalidImageName", async () => {
    const image = "nodelet.local/UPPER case:1";
    await node.writeManifest("invalid", manifest("invalid", [shell("app", IDLE, { image })]));
    const pod = await waitForPod(
      node,
      "invalid",
      (view) => waiting(view)?.reason === "InvalidImageName",
      "InvalidImageName",
    );
    assert.match(waiting(pod)?.message ?? "", /^Failed to apply default image tag "nodelet\.local\/UPPER case:1": /);
  });

  test("a program that is not there: the runtime's own words", async () => {
    const app = { name: "app", image: testImage(), command: ["/no/such/program"] };
    await node.writeManifest("no-program", manifest("no-program", [app]));
    const pod = await waitForPod(
      node,
      "no-program",
      (view) => /no such file or directory/.test(waiting(view)?.message ?? ""),
      "waiting with the runtime's error",
    );
    assert.ok(["RunContainerError", "CreateContainerError"].includes(waiting(pod)?.reason ?? ""), waiting(pod)?.reason);
  });
});
