// Evidence below a finding: the last output of a run, the holder of a port, texts without debris of gRPC and runtimes.

import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { Client } from "../../../src/cli/client.js";
import { escapedLine } from "../../../src/cli/output/escape.js";
import { portConflicts } from "../../../src/cli/why/host-ports.js";
import type { Finding } from "../../../src/cli/why/input.js";
import { withOutput } from "../../../src/cli/why/last-output.js";
import { plainText } from "../../../src/cli/why/plain-text.js";
import { withPortHolder } from "../../../src/cli/why/port-holder.js";
import { containerStatus, pod, RUNNING } from "../kit.js";

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "nodelet-evidence-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

const FINDING: Finding = {
  ...{ severity: "error", about: "container app", what: "it exited", help: ["last"] },
  output: { container: "app", previous: true },
};

describe("the last output of a run", () => {
  async function outputOf(t: TestContext, answer: RequestListener): Promise<Finding> {
    const socket = join(await folder(t), "s");
    const server = createServer(answer).listen(socket);
    await once(server, "listening");
    t.after(() => server.close());
    return await withOutput(new Client(socket), pod({}), FINDING);
  }
  const lines = ({ evidence = [] }: Finding): string[] => evidence.flatMap((one) => one.lines);

  test("asks for five lines of the run before, and shows them escaped", async (t) => {
    let path: string | undefined;
    const found = await outputOf(t, (request, response) => {
      path = request.url;
      response.end("\u001b[31mred\u001b[0m\r\n\n\tbell\u0007 \u202eend\n");
    });
    equal(path, "/containerLogs/default/web/app?tailLines=5&previous=true");
    deepEqual(lines(found), ["red", "    bell\\x07 \\u202eend"]);
    equal(found.evidence?.[0]?.title, "its last output");
  });

  test("an endless line is cut, and reading it ends", async (t) => {
    const found = await outputOf(t, (_request, response) => {
      const write = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", write);
      write();
    });
    equal(lines(found).length, 1);
    equal(lines(found)[0]?.length, 200);
  });

  test("a run without output and a log that is gone are said", async (t) => {
    deepEqual(lines(await outputOf(t, (_request, response) => response.end("\n"))), ["(it wrote nothing)"]);
    const gone = await outputOf(t, (_request, response) => response.writeHead(404).end("no such container"));
    deepEqual(lines(gone), ["(cannot be read: no such container)"]);
  });

  test("what it says gives a remedy, before the others", async (t) => {
    const { help } = await outputOf(t, (_request, response) => response.end("open /x: Read-only file system\n"));
    match(help[0] ?? "", /mount an emptyDir/);
    equal(help.at(-1), "last");
  });

  test("a line is cut to its bound", () => {
    equal(escapedLine("a".repeat(10), 5), "aaaa…");
    equal(escapedLine("", 5), "");
  });
});

describe("the holder of a port", () => {
  const failed = (...shown: string[]): Finding => ({
    ...FINDING,
    evidence: [{ title: "its last output", lines: shown }],
  });
  /** A process that listens on port 8080 (0x1F90) by socket 77. */
  async function proc(t: TestContext, cgroup: string): Promise<string> {
    const path = await folder(t);
    await mkdir(join(path, "12/fd"), { recursive: true });
    await mkdir(join(path, "12/net"));
    await mkdir(join(path, "self"));
    const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
    const socket = (port: string, state: string, inode: number): string =>
      `   0: 00000000:${port} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1\n`;
    await writeFile(join(path, "12/net/tcp"), head + socket("1F90", "0A", 77) + socket("1F91", "01", 78));
    await writeFile(join(path, "12/comm"), "web\u0007\n");
    await writeFile(join(path, "12/cgroup"), cgroup);
    await symlink("socket:[77]", join(path, "12/fd/3"));
    await symlink("/dev/null", join(path, "12/fd/0"));
    return path;
  }
  const own = pod(
    {},
    { hostNetwork: true, containers: [{ name: "app", image: "i", ports: [{ containerPort: 8080 }] }] },
  );
  const other = {
    ...pod({ containerStatuses: [containerStatus(RUNNING, { containerID: "containerd://abc" })] }, {}, "other"),
  };
  const last = ({ evidence = [] }: Finding): string | undefined => evidence.at(1)?.lines.join();

  test("a process of the machine", async (t) => {
    const places = { kubelet: 12, pods: [own], proc: await proc(t, "0::/user.slice") };
    const found = await withPortHolder(own, failed("bind: Address already in use"), places);
    equal(last(found), "port 8080 (TCP): the process web\\x07 (pid 12) of this machine");
  });

  test("a container of another pod, found by its cgroup", async (t) => {
    const places = {
      kubelet: 12,
      pods: [own, other],
      proc: await proc(t, `0::/kubepods/pod${other.metadata.uid}/abc`),
    };
    const found = await withPortHolder(own, failed("listen tcp :8080: bind: address already in use"), places);
    equal(last(found), "port 8080 (TCP): the process web\\x07 (pid 12), container app of pod default/other");
  });

  test("a connection that does not listen, another error, and no such process are no evidence", async (t) => {
    const places = { kubelet: 12, pods: [own], proc: await proc(t, "") };
    const one = pod(
      {},
      { hostNetwork: true, containers: [{ name: "app", image: "i", ports: [{ containerPort: 8081 }] }] },
    );
    equal(last(await withPortHolder(one, failed("address already in use"), places)), undefined);
    equal(last(await withPortHolder(own, failed("no such table"), places)), undefined);
    equal(last(await withPortHolder(own, failed("address already in use"), { ...places, kubelet: 13 })), undefined);
  });

  test("pods with the same host port collide by protocol and address", () => {
    const wants = (name: string, fields: object, spec: object = {}) =>
      pod(
        { phase: "Running" },
        { containers: [{ name: "app", image: "i", ports: [{ containerPort: 80, ...fields }] }], ...spec },
        name,
      );
    const me = wants("me", { hostPort: 80, hostIP: "10.0.0.1" });
    const holder = (one: ReturnType<typeof wants>): string | undefined => portConflicts(me, [me, one])[0]?.holder;
    equal(holder(wants("a", { hostPort: 80 })), "default/a");
    equal(holder(wants("a", {}, { hostNetwork: true })), "default/a");
    equal(holder(wants("a", { hostPort: 80, hostIP: "10.0.0.2" })), undefined);
    equal(holder(wants("a", { hostPort: 80, protocol: "UDP" })), undefined);
    equal(holder(wants("a", {})), undefined);
    equal(holder({ ...wants("a", { hostPort: 80 }), status: { phase: "Failed" } }), undefined);
  });
});

test("texts of gRPC and runtimes lose what only their developers need", () => {
  for (const [given, plain] of [
    ["rpc error: code = Unknown desc = no such image", "no such image"],
    ["no such image: 2 UNKNOWN: no such image", "no such image"],
    ["UNKNOWN: a: b: 2 UNKNOWN: a: b", "UNKNOWN: a: b"],
    ["14 UNAVAILABLE: gone", "gone"],
    ["Deadline exceeded after 2.001s,LB pick: 0.001s,remote_addr=unix:/run/c.sock", "Deadline exceeded after 2.001s"],
    [
      "CRI StopContainer of container 3f2a failed at unix:///run/c.sock: DEADLINE_EXCEEDED: slow",
      "StopContainer failed: slow",
    ],
    [
      'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "x": not found: unknown',
      'unable to start container process: exec: "x": not found',
    ],
    ["exit: 3 ERRORS: 2 UNKNOWNS: none", "exit: 3 ERRORS: 2 UNKNOWNS: none"],
    ["the host is unknown", "the host is unknown"],
    ["", ""],
  ] as const) {
    equal(plainText(given), plain);
  }
  const long = "a: ".repeat(20_000);
  ok(plainText(long).length <= long.length);
  doesNotMatch(plainText("x: unknown"), /unknown/);
});
