// Debian's kubectl through the API server to the kubelet: logs, exec, attach, cp, port-forward and debug, each over the
// transports that kubectl has: WebSocket, and SPDY for older clients.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { testImage, waitFor } from "../harness/node.js";
import { boundPod, NODE_NAME, NOT_REACHABLE, startClusterNode, type ClusterNode } from "../support/cluster-node.js";
import { freePort } from "../support/free-port.js";
import { Kubectl, type Ran } from "../support/kubectl.js";
import { secureAsk } from "../support/secure-ask.js";
import { IDLE } from "../support/static-pods.js";

const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false", KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" };
const TRANSPORTS: readonly [string, Readonly<Record<string, string>>][] = [
  ["WebSocket", {}],
  ["SPDY", SPDY],
];
const MIB = 1024 * 1024;

let cluster: ClusterNode;
let kubectl: Kubectl;

const shell = (name: string, script: string): Record<string, unknown> => ({
  ...{ name, image: testImage(), imagePullPolicy: "Never", command: ["sh", "-c", script] },
});
const applied = async (name: string, spec: Record<string, unknown>): Promise<void> => {
  await kubectl.apply({ apiVersion: "v1", kind: "Pod", ...boundPod(name, "", spec) });
};
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

describe("kubectl with the streams of the kubelet", { skip: NOT_REACHABLE }, () => {
  before(async () => {
    cluster = await startClusterNode({ reachable: true });
    kubectl = await Kubectl.start(cluster.api.kubeconfig());
    const serve = `mkdir -p /www && head -c ${3 * MIB} /dev/urandom > /www/big && echo page > /www/index.html`;
    await applied("tools", {
      containers: [shell("app", `${serve}; httpd -p 8080 -h /www; ${IDLE}`), shell("other", IDLE)],
    });
    await kubectl.ok("wait", "--for=condition=Ready", "pod/tools", "--timeout=120s");
  });
  after(async () => {
    await kubectl[Symbol.asyncDispose]();
    await cluster.stop();
  });

  describe("kubectl logs", { concurrency: 4 }, () => {
    test("prints, follows, limits and times the log of each container", async () => {
      const count = "for i in 1 2 3 4 5; do echo line $i; done; until [ -e /tmp/go ]; do sleep 0.1; done; echo last";
      const containers = [shell("app", count), shell("second", "echo second >&2")];
      await applied("talk", { restartPolicy: "Never", containers });
      for (const [container, line] of [
        ["app", "line 5\n"],
        ["second", "second\n"],
      ] as const) {
        await waitFor(async () => (await kubectl.run(["logs", "talk", "-c", container])).stdout.endsWith(line), {
          what: `the first lines of ${container}`,
        });
      }
      const follow = kubectl.spawn(["logs", "-f", "talk", "-c", "app"]);
      await follow.until((stdout) => stdout.endsWith("line 5\n"));
      assert.equal(await kubectl.ok("logs", "talk", "-c", "app", "--tail=2"), "line 4\nline 5\n");
      assert.equal(await kubectl.ok("logs", "talk", "-c", "app", "--limit-bytes=9"), "line 1\nli");
      assert.match(
        await kubectl.ok("logs", "talk", "-c", "app", "--timestamps", "--tail=1"),
        /^\d{4}-\d\d-\d\dT[\d:.]+Z line 5\n$/,
      );
      assert.match(await kubectl.ok("logs", "talk", "-c", "app", "--since=10m"), /^line 1\n/);
      assert.equal(await kubectl.ok("logs", "talk", "-c", "app", "--since-time=2100-01-01T00:00:00Z"), "");
      const all = await kubectl.ok("logs", "talk", "--all-containers", "--prefix");
      assert.match(all, /^\[pod\/talk\/app\] line 1$/m);
      assert.match(all, /^\[pod\/talk\/second\] second$/m);
      await kubectl.ok("exec", "talk", "-c", "app", "--", "touch", "/tmp/go");
      const { code, stdout } = await follow.ended();
      assert.deepEqual([code, stdout.split("\n").slice(-3)], [0, ["line 5", "last", ""]]);
      await kubectl.ok("delete", "pod", "talk");
    });

    test("prints the log of the run before, and says when there is none", async () => {
      await applied("again", { containers: [shell("app", "echo run; exit 1")] });
      await waitFor(async () => (await kubectl.run(["logs", "again", "--previous"])).stdout === "run\n", {
        what: "a log of the run before",
      });
      const { code, stderr } = await kubectl.run(["logs", "tools", "-c", "app", "--previous"]);
      assert.equal(code, 1);
      assert.match(stderr, /previous terminated container "app" in pod "tools" not found/);
      await kubectl.ok("delete", "pod", "again", "--now");
    });

    test("says why a container that waits has no log", async () => {
      await applied("imageless", {
        containers: [{ ...shell("app", IDLE), image: "registry.invalid/none:1", imagePullPolicy: "Never" }],
      });
      await waitFor(
        async () =>
          /container "app" in pod "imageless" is waiting to start: \S/.test(
            (await kubectl.run(["logs", "imageless"])).stderr,
          ),
        { what: "the reason" },
      );
      const { stderr } = await kubectl.run(["logs", "tools", "-c", "absent"]);
      assert.match(stderr, /container absent is not valid for pod tools/);
      await kubectl.ok("delete", "pod", "imageless", "--now");
    });
  });

  for (const [transport, env] of TRANSPORTS) {
    const exec = (args: readonly string[], input: string | Buffer = ""): ReturnType<Kubectl["run"]> =>
      kubectl.run(["exec", ...args], { input, env });

    describe(`kubectl over ${transport}`, { concurrency: 4 }, () => {
      test("exec separates the outputs and exits with the command's code", async () => {
        const ran = await exec(["tools", "-c", "app", "--", "sh", "-c", "echo out; echo err >&2; exit 7"]);
        assert.deepEqual([ran.code, ran.stdout], [7, "out\n"]);
        assert.equal(ran.stderr, "err\ncommand terminated with exit code 7\n");
        assert.deepEqual((await exec(["tools", "-c", "other", "--", "hostname"])).stdout, "tools\n");
        const missing = await exec(["tools", "-c", "app", "--", "no-such-program"]);
        assert.notEqual(missing.code, 0);
        assert.match(missing.stderr, /no-such-program/);
      });

      test("exec passes megabytes of input and output unchanged", async () => {
        const bytes = randomBytes(2 * MIB);
        const running = kubectl.spawn(["exec", "-i", "tools", "-c", "app", "--", "cat"], env);
        running.child.stdin.end(bytes);
        const { code, stderr } = await running.ended();
        assert.equal(code, 0, stderr);
        assert.equal(sha256(running.bytes), sha256(bytes));
      });

      test("attach shows the output and passes the input on", async () => {
        const name = `attached-${transport.toLowerCase()}`;
        const read = "while read -r line; do echo got $line; [ $line = end ] && exit 0; done";
        await applied(name, { restartPolicy: "Never", containers: [{ ...shell("app", read), stdin: true }] });
        await kubectl.ok("wait", "--for=condition=Ready", `pod/${name}`, "--timeout=120s");
        const attached = kubectl.spawn(["attach", "-i", name], env);
        // The output since then is attached, not the log: a line may be read before.
        await waitFor(
          () => {
            attached.child.stdin.write("hello\n");
            return attached.stdout.includes("got hello\n");
          },
          { what: "the response", intervalMs: 200, lastSeen: () => attached.stderr },
        );
        attached.child.stdin.write("end\n");
        assert.equal((await attached.ended()).code, 0);
        await kubectl.ok("delete", "pod", name);
      });

      test("cp copies files and folders in both directions", async () => {
        const folder = join(kubectl.dir, `copied-${transport}`);
        await mkdir(join(folder, "sub"), { recursive: true });
        const bytes = randomBytes(MIB);
        await writeFile(join(folder, "sub", "data"), bytes);
        await writeFile(join(folder, "text"), "text\n");
        const there = `/tmp/in-${transport}`;
        await kubectl.okWith({ env }, "cp", folder, `tools:${there}`, "-c", "app");
        const sum = await kubectl.ok("exec", "tools", "-c", "app", "--", "sha256sum", `${there}/sub/data`);
        assert.equal(sum.split(" ")[0], sha256(bytes));
        await kubectl.okWith({ env }, "cp", `tools:${there}`, `${folder}-back`, "-c", "app");
        assert.equal(sha256(await readFile(join(`${folder}-back`, "sub", "data"))), sha256(bytes));
        await kubectl.okWith({ env }, "cp", `tools:${there}/text`, `${folder}-text`, "-c", "app");
        assert.equal(await readFile(`${folder}-text`, "utf8"), "text\n");
      });

      test("port-forward carries several connections, and outlives one to a closed port", async () => {
        const [port, closed] = [await freePort(), await freePort()];
        const forward = kubectl.spawn(["port-forward", "pod/tools", `${port}:8080`, `${closed}:9`], env);
        await forward.until((stdout) => (stdout.match(/^Forwarding from 127/gm) ?? []).length === 2);
        const wanted = await kubectl.ok("exec", "tools", "-c", "app", "--", "sha256sum", "/www/big");
        const get = async (path: string): Promise<Buffer> =>
          Buffer.from(await (await fetch(`http://127.0.0.1:${port}${path}`)).arrayBuffer());
        const answers = await Promise.all(Array.from({ length: 4 }, () => get("/big")));
        for (const answer of answers) assert.equal(sha256(answer), wanted.split(" ")[0]);
        await assert.rejects(fetch(`http://127.0.0.1:${closed}/`));
        await forward.until((_stdout, stderr) => stderr.includes("an error occurred forwarding"));
      });
    });
  }

  test("port-forward still serves the port after an error", async () => {
    const port = await freePort();
    const forward = kubectl.spawn(["port-forward", "pod/tools", `${port}:8080`]);
    await forward.until((stdout) => stdout.includes("Forwarding from 127"));
    for (let round = 0; round < 3; round++) {
      assert.equal(await (await fetch(`http://127.0.0.1:${port}/index.html`)).text(), "page\n");
    }
    await forward.interrupt();
  });

  test("exec with a terminal has one in the container", async () => {
    const running = kubectl.onTerminal(["exec", "-it", "tools", "-c", "app", "--", "sh", "-c", "tty; exit 5"]);
    const { code, stdout } = await running.ended();
    assert.match(stdout, /\/dev\/pts\/\d/);
    assert.equal(code, 5);
  });

  test("run with --rm attaches, passes the input on and deletes the pod", async () => {
    const args = [
      "run",
      "visitor",
      "--rm",
      "-i",
      "-q",
      "--restart=Never",
      `--image=${testImage()}`,
      "--image-pull-policy=Never",
    ];
    const { code, stdout, stderr } = await kubectl.run([...args, "--", "sh", "-c", "read -r line; echo got $line"], {
      input: "hello\n",
    });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^got hello$/m);
    assert.equal(await cluster.api.find("pods", "default", "visitor"), undefined);
  });

  describe("kubectl debug", { concurrency: 3 }, () => {
    /** The input stays open: containerd ends an attach with the end of an input that is not for one client only. */
    const answered = (args: readonly string[]): Promise<Ran> => {
      const running = kubectl.spawn(args);
      running.child.stdin.write("hello\n");
      return running.ended();
    };

    test("runs an ephemeral container beside the target and sees its processes", async () => {
      const image = `--image=${testImage()}`;
      const args = ["debug", "tools", image, "-c", "debugger", "--target=app", "-i", "-q"];
      const { code, stdout, stderr } = await answered([...args, "--", "sh", "-c", "read -r line; echo got $line; ps"]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^got hello$/m);
      assert.match(stdout, /httpd -p 8080/);
      const path = "jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.exitCode}";
      await waitFor(async () => (await kubectl.ok("get", "pod", "tools", "-o", path)) === "0", {
        what: "the end in the status",
      });
      assert.match(await kubectl.ok("logs", "tools", "-c", "debugger"), /httpd -p 8080/);
      assert.match(await kubectl.ok("describe", "pod", "tools"), /Ephemeral Containers:\n {2}debugger:\n/);
    });

    test("with --copy-to runs a copy of the pod with one container more, which sees the processes of the others", async () => {
      const args = [
        "debug",
        "tools",
        "--copy-to=copied",
        "--share-processes",
        `--image=${testImage()}`,
        "-c",
        "debugger",
      ];
      await kubectl.ok(...args, "--image-pull-policy=Never", "--attach=false", "--", "sh", "-c", IDLE);
      await kubectl.ok("wait", "--for=condition=Ready", "pod/copied", "--timeout=120s");
      await waitFor(
        async () => (await kubectl.ok("exec", "copied", "-c", "debugger", "--", "ps")).includes("httpd -p 8080"),
        {
          what: "the web server among the processes",
        },
      );
      await kubectl.ok("delete", "pod", "copied");
    });

    test("of a node runs a pod with the node's namespaces and files", async () => {
      const args = ["debug", `node/${NODE_NAME}`, `--image=${testImage()}`, "-i", "-q", "--profile=sysadmin"];
      const { code, stdout, stderr } = await answered([
        ...args,
        "--",
        "sh",
        "-c",
        "read -r line; echo got $line; ls /host",
      ]);
      assert.equal(code, 0, stderr);
      const name = (await kubectl.ok("get", "pods", "-o", "name"))
        .split("\n")
        .find((one) => one.includes("node-debugger"));
      assert.match(stdout, /^got hello$/m);
      assert.match(stdout, /^etc$/m);
      await kubectl.ok("delete", name ?? "");
    });
  });

  test("a client without the right to exec is refused by the API server, and the kubelet refuses unknown clients", async () => {
    const { fixture } = cluster;
    assert.ok(fixture !== undefined);
    await using visitor = await Kubectl.start(fixture.kubeconfigText({ name: "visitor" }));
    const { code, stderr } = await visitor.run(["exec", "tools", "-c", "app", "--", "true"]);
    assert.equal(code, 1);
    assert.match(stderr, /^Error from server \(Forbidden\)/);
    assert.equal((await secureAsk(cluster.node, "/exec/default/tools/app?command=true&output=1", "POST")).status, 401);
  });
});
