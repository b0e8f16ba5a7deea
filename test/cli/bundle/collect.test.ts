// The collectors of a support bundle: deadlines, bounds, reasons; and what they make of pods, manifests and mounts.

import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { BundleClient } from "../../../src/cli/bundle/bundle-client.js";
import { collect, contentsText } from "../../../src/cli/bundle/collect.js";
import { maskMounts } from "../../../src/cli/bundle/mask-mounts.js";
import type { Part } from "../../../src/cli/bundle/part.js";
import { manifestsText } from "../../../src/cli/bundle/parts/manifests.js";
import { explanationText } from "../../../src/cli/bundle/parts/why.js";
import { Secrets } from "../../../src/cli/bundle/secrets.js";
import { secretVariables, wordsOf } from "../../../src/cli/bundle/words.js";
import { readThrough } from "../../../src/cli/machine/files.js";
import { readKmsg } from "../../../src/cli/machine/kernel-log.js";
import { runTool } from "../../../src/cli/machine/tool.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { containerStatus, event, NOW, pod } from "../kit.js";

describe("the parts of a bundle", () => {
  test("one that fails, one that hangs and one that is too long do not hold up the others", async () => {
    const clock = new SteppedClock(1000);
    const aborted: string[] = [];
    const hang = (name: string): Part => ({
      name,
      deadlineMs: 5000,
      read: (signal) => {
        signal.addEventListener("abort", () => aborted.push(name));
        return new Promise(() => undefined);
      },
    });
    const parts: Part[] = [
      ...["h1", "h2", "h3", "h4"].map(hang),
      { name: "fails", read: () => Promise.reject(new Error("no such program, password=s3cret")) },
      { name: "long", bytes: 8, read: () => Promise.resolve("0123456789") },
      { name: "log", bytes: 8, keep: "end", read: () => Promise.resolve("é123456é") },
      { name: "fine", read: () => Promise.resolve("text with hunter2hunter2\n") },
    ];
    const secrets = new Secrets();
    secrets.add("hunter2hunter2");
    const running = collect(parts, clock, secrets);
    clock.step(5000);
    const files = await running;
    deepEqual(aborted, ["h1", "h2", "h3", "h4"]);
    deepEqual(
      files.map(({ name, content }) => [name, content]),
      [
        ...["h1", "h2", "h3", "h4"].map((name) => [name, "not available: it did not end within 5 s\n"]),
        ["fails", "not available: no such program, password=***\n"],
        ["long", "01234567\n(cut to 8 B of 10 B)\n"],
        ["log", "(cut to 8 B of 10 B)\n123456é"],
        ["fine", "text with ***\n"],
      ],
    );
    match(contentsText(files), /^h1 +\d+ B +5000 ms {2}not available: it did not end within 5 s$/m);
    match(contentsText(files), /^fine +14 B +\d+ ms$/m);
  });
});

test("a part that runs many programs at once causes no warning of Node", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  const read = async (signal: AbortSignal): Promise<string> => {
    for (let i = 0; i < 20; i++) signal.addEventListener("abort", () => undefined);
    // Node warns in a later turn.
    await setImmediate();
    return "text";
  };
  const [file] = await collect([{ name: "many", read }], new SteppedClock(1000), new Secrets());
  process.off("warning", onWarning);
  equal(file?.content, "text");
  deepEqual(warnings, []);
});

test("a kubelet that gives no status is asked nothing else, and one that does each question once", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "nodelet-client-"));
  const asked: string[] = [];
  let dead = true;
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (dead) request.socket.destroy();
    else response.end(`{"path":${JSON.stringify(request.url)}}`);
  });
  t.after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  const socket = join(folder, "socket");
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const silent = new BundleClient(socket);
  for (const path of ["/pods", "/metrics", "/pods"]) await rejectsWith(silent.text(path), /did not respond/);
  deepEqual(asked, ["/nodelet/status"]);
  [dead, asked.length] = [false, 0];
  const client = new BundleClient(socket);
  const answers = await Promise.all([
    client.json("/pods"),
    client.text("/pods"),
    client.json("/pods"),
    client.text("/metrics"),
  ]);
  deepEqual(answers, [{ path: "/pods" }, '{"path":"/pods"}', { path: "/pods" }, '{"path":"/metrics"}']);
  deepEqual([...asked].sort(), ["/metrics", "/nodelet/status", "/pods"]);
  client.close();
});

describe("programs and files of the machine", () => {
  const options = { clock: systemClock };

  test("a program that prints without end is ended, and named", async () => {
    await rejectsWith(runTool("yes", [], { ...options, bytes: 1000 }), /^yes printed more than 1000 bytes, killed$/);
  });
  test("a program that is not there is named", async () => {
    await rejectsWith(runTool("no-such-program", [], options), /^no-such-program is not there$/);
  });
  test("a pipe in the place of a file ends with the deadline", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "nodelet-files-"));
    t.after(() => rm(folder, { recursive: true }));
    const path = join(folder, "pipe");
    await promisify(execFile)("mkfifo", [path]);
    await rejectsWith(
      readThrough(path, { ...options, deadlineMs: 50 }),
      /head gave no response within 0\.05 s, killed/,
    );
  });
  test("a file is read up to its bound", async () => {
    const { text, cut } = await readThrough("/proc/cpuinfo", { ...options, bytes: 10 });
    deepEqual([text.length, cut], [10, true]);
    await rejectsWith(readThrough("/does/not/exist", options), /^there is no file \/does\/not\/exist$/);
  });
  test("the kernel's records become lines", async (t) => {
    const text = await readKmsg("/dev/kmsg").catch((error: unknown) => error);
    if (typeof text !== "string") t.skip("/dev/kmsg cannot be read here");
    else match(text, /^\[\d+\.\d{6}\] /m);
  });
});

async function rejectsWith(run: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  ok(error instanceof Error);
  match(error.message, message);
}

test("a mount shows its type and harmless options, never a server, a user or a password", () => {
  const lines = [
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda1 rw,errors=remount-ro",
    "40 27 0:40 / /mnt/a rw - nfs4 s3cret:/export rw,vers=4.2,addr=10.0.0.9,clientaddr=s3cret",
    "41 27 0:41 / /mnt/b rw - cifs //s3cret/share rw,username=s3cret,password=s3cret,vers=3.0",
    "42 27 0:42 / /mnt/c rw shared:5 master:1 - ceph s3cret:6789:/ rw,name=x,secret=s3cret",
    "43 27 0:43 / /mnt/d rw - fuse.sshfs s3cret@host:/ rw,user_id=0",
    `44 27 0:44 / /mnt/e rw - overlay overlay rw,lowerdir=${"/a:".repeat(500)}`,
    "45 27 0:45 / /mnt/f rw - 9p s3cret rw,token=s3cret".replace("9p s3cret", "9p /s3cret"),
    "odd password=s3cret",
  ];
  const masked = maskMounts(lines.join("\n"));
  doesNotMatch(masked, /s3cret/);
  const [first = ""] = lines;
  equal(masked.split("\n")[0], first);
  match(masked, /\/mnt\/a rw - nfs4 \*\*\* rw,vers=4\.2,addr=\*\*\*/);
  match(masked, /shared:5 master:1 - ceph/);
  ok(masked.length < 1500);
});

test("refused manifests are shown with place and rule, without values", () => {
  const text = manifestsText(
    "/m",
    [
      {
        ...{ path: "/m/a.yaml", pods: [], warnings: [] },
        violations: [
          {
            field: "spec.containers[0].env[0].value",
            reason: "wrong type",
            got: '"s3cret"',
            allowed: "a string",
            line: 9,
            column: 5,
          },
          { field: "", reason: "syntax", allowed: "s3cret is no YAML", line: 2, column: 1 },
        ],
      },
      {
        path: "/m/b.yaml",
        pods: ["default/b"],
        violations: [],
        warnings: [{ field: "spec.x", message: "s3cret?", line: 1, column: 2 }],
      },
      { path: "/m/c.yaml", pods: ["default/b"], violations: [], warnings: [] },
    ],
    3,
  );
  doesNotMatch(text, /s3cret/);
  for (const line of [
    "/m/a.yaml: refused",
    "  line 9, column 5: spec.containers[0].env[0].value: wrong type; allowed: a string",
    "  line 2, column 1: syntax",
    "/m/b.yaml: default/b",
    "  warning: line 1, column 2: spec.x",
    "/m/c.yaml: the pod default/b is in /m/b.yaml, too",
    "3 more files were not read",
  ])
    ok(text.includes(`${line}\n`), line);
});

test("the words of a pod are its commands, values, headers and outputs, and none of them stays in its explanation", () => {
  const terminated = { exitCode: 1, message: "s3cret-message\nsecond s3cret-line", startedAt: null, finishedAt: null };
  const given = pod(
    { containerStatuses: [containerStatus({ terminated })] },
    {
      containers: [
        {
          name: "app",
          command: ["sh", "-c", "s3cret-command --x"],
          args: ["s3cret-arg"],
          env: [
            { name: "A", value: "s3cret-value" },
            { name: "DB_PASSWORD", value: "hunter2hunter2" },
          ],
          readinessProbe: { exec: { command: ["cat", "/s3cret-path"] } },
          livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: "X", value: "s3cret-header" }] } },
          lifecycle: { preStop: { exec: { command: ["s3cret-hook"] } } },
        },
      ],
    },
  );
  const events = [event("Unhealthy", "Readiness probe failed: s3cret-output: x")];
  const words = wordsOf(given, events);
  const finding = (what: string) => ({
    ...{ severity: "error" as const, about: "container app", what },
    help: [what],
  });
  const quoted = [
    ...["s3cret-message\nsecond s3cret-line", "second s3cret-line", "sh -c s3cret-command --x", "s3cret-command --x"],
    ...["s3cret-arg", "s3cret-value", "cat /s3cret-path", "/s3cret-path", "s3cret-header", "s3cret-hook"],
    "s3cret-output: x",
  ];
  const all = quoted.map((one) => `it said ${one} here`);
  const text = explanationText(
    {
      ...{ pod: "default/web", uid: "u", verdict: "is not running: Error", fine: false },
      findings: [finding(all.join("; ")), { ...finding("x"), evidence: ["s3cret"] } as ReturnType<typeof finding>],
      decisions: [{ at: NOW, what: "Unhealthy: Readiness probe failed: s3cret-output: x", count: 2 }],
    },
    (one) => words.mask(one),
  );
  doesNotMatch(text, /s3cret/);
  match(text, /^default\/web is not running: Error$/m);
  match(text, /error container app: /);
  match(text, /\(2 times\)$/m);
  deepEqual([...secretVariables(given)], ["hunter2hunter2"]);
});
