// Lifecycle hooks of real containers: what they run, in which place, what their failure does and when they are cut.
// @promise Probes and hooks: postStart runs before the next container starts; its failure kills the container with
//   PostStartHookError. preStop runs before the stop signal, sidecars stop after the apps. A hook longer than the grace
//   period is cut, and the pod terminates in time.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Container, PodSpec } from "../../src/shared/kubernetes/api/pod.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import {
  IDLE,
  manifest,
  NODE_NAME,
  PATIENCE_MS,
  shell,
  statusOf,
  waitForPod,
  waitGone,
} from "../support/static-pods.js";

let node: TestNode;
/** Each pod writes its diary in a folder of its own here. */
let diaries: string;

before(async () => {
  diaries = await mkdtemp(join(tmpdir(), "nodelet-hooks-"));
  // From this verbosity on the log has the events of every start and end.
  node = await startNode({ flags: ["--v=3"] });
});
after(async () => {
  await node.stop();
  await rm(diaries, { recursive: true, force: true });
});

const DIARY = { name: "diary", mountPath: "/diary" };
/** Adds a line to the pod's diary. */
const note = (line: string): string => `echo ${line} >> /diary/lines`;
const hook = (script: string) => ({ exec: { command: ["sh", "-c", script] } });
/** Notes its stop signal and ends. */
const noting = (name: string): string =>
  `trap '${note(`${name}-TERM`)}; exit 0' TERM; ${note(`${name}-up`)}; while true; do sleep 3600 & wait $!; done`;

async function write(name: string, containers: Container[], spec: Partial<PodSpec> = {}): Promise<void> {
  const folder = join(diaries, name);
  await mkdir(folder, { recursive: true });
  const volumes = [{ name: "diary", hostPath: { path: folder } }];
  // Long enough for each container to end by itself.
  const own = { volumes, terminationGracePeriodSeconds: 60 };
  await node.writeManifest(name, manifest(name, containers, { spec: { ...own, ...spec } }));
}

const diary = async (name: string): Promise<string[]> =>
  (await readFile(join(diaries, name, "lines"), "utf8").catch(() => "")).split("\n").filter((line) => line !== "");

const hooked = (name: string, script: string, lifecycle: Container["lifecycle"]): Container =>
  shell(name, script, { volumeMounts: [DIARY], ...(lifecycle && { lifecycle }) });

interface EventLine {
  event: string;
  container?: string;
  msg: string;
}

/** The events of a pod, as the kubelet's log tells them. */
async function eventsOf(name: string): Promise<EventLine[]> {
  // The last line may be half-written.
  const lines = (await readFile(node.kubelet.log, "utf8")).split("\n").slice(0, -1);
  return lines
    .filter((line) => line.includes('"event":') && line.includes(`pod ${name}-${NODE_NAME}_`))
    .map((line) => JSON.parse(line) as EventLine);
}

const reasonsOf = async (name: string): Promise<string[]> => (await eventsOf(name)).map(({ event }) => event);
const waitForEvent = (name: string, reason: string): Promise<true> =>
  waitFor(async () => (await reasonsOf(name)).includes(reason) || undefined, {
    what: `event ${reason} of ${name}`,
    timeoutMs: PATIENCE_MS,
    intervalMs: 50,
  });
const running = (name: string, container = "app") =>
  waitForPod(node, name, (pod) => statusOf(pod, container)?.state.running !== undefined, `${container} runs`);
const ready = (name: string, container = "app") =>
  waitForPod(node, name, (pod) => statusOf(pod, container)?.ready === true, `${container} is ready`);
const waitForLine = (name: string, line: string): Promise<true> =>
  waitFor(async () => (await diary(name)).includes(line) || undefined, {
    what: `${line} in the diary of ${name}`,
    timeoutMs: PATIENCE_MS,
    intervalMs: 50,
  });

describe("lifecycle hooks", { concurrency: 6 }, () => {
  test("a long postStart: its container is shown as running, not ready, and the next one waits for its end", async () => {
    const wait = `${note("hook")}; while [ ! -e /diary/go ]; do sleep 0.1; done; ${note("hook-end")}`;
    const containers = [
      hooked("app", noting("app"), { postStart: hook(wait) }),
      hooked("next", noting("next"), undefined),
    ];
    await write("warm", containers);
    await waitForLine("warm", "hook");
    const early = await running("warm");
    assert.deepEqual([statusOf(early, "app")?.started, statusOf(early, "app")?.ready], [false, false]);
    assert.equal(statusOf(early, "next")?.state.waiting?.reason, "ContainerCreating");
    await mkdir(join(diaries, "warm", "go"));
    await ready("warm", "next");
    await waitForLine("warm", "next-up");
    const lines = await diary("warm");
    assert.ok(lines.indexOf("hook-end") < lines.indexOf("next-up"), lines.join());
    const made = async (): Promise<number> =>
      (await reasonsOf("warm")).filter((reason) => /Created|Started/.test(reason)).length;
    await waitFor(async () => (await made()) >= 4, { what: "the events of both containers", timeoutMs: PATIENCE_MS });
    assert.equal(await made(), 4);
  });

  test("a postStart over HTTP reaches the container by the name of its port", async () => {
    const cgi = "#!/bin/sh\\necho called >> /diary/lines\\necho Content-Type: text/plain\\necho\\n";
    const script = [
      "mkdir -p /www/cgi-bin",
      `printf '${cgi}' > /www/cgi-bin/hook`,
      "chmod +x /www/cgi-bin/hook",
      "httpd -p 8080 -h /www",
      noting("app"),
    ].join("; ");
    // The next container starts when this one's hook has seen the server up.
    const retry = "for i in $(seq 600); do wget -qO- http://127.0.0.1:8080/cgi-bin/hook && break; sleep 0.1; done";
    const server = hooked("server", script, { postStart: hook(retry) });
    const app = hooked("app", noting("caller"), {
      postStart: { httpGet: { port: "web", path: "/cgi-bin/hook" } },
    });
    await write("http", [server, { ...app, ports: [{ name: "web", containerPort: 8080 }] }]);
    await ready("http");
    assert.equal((await diary("http")).filter((line) => line === "called").length, 2);
  });

  test("a postStart that fails: event, container killed, PostStartHookError", async () => {
    await write("cold", [hooked("app", IDLE, { postStart: hook("echo too cold >&2; exit 7") })]);
    const failed = (reason: string | undefined) => reason === "PostStartHookError";
    const pod = await waitForPod(node, "cold", (view) => failed(statusOf(view, "app")?.state.waiting?.reason), "fails");
    const message = statusOf(pod, "app")?.state.waiting?.message ?? "";
    assert.match(
      message,
      /^Exec lifecycle hook \(\[sh -c echo too cold >&2; exit 7\]\) for Container "app" in Pod "cold-/,
    );
    assert.match(message, /exited with 7: too cold\n, message: "too cold\\n"$/);
    assert.notEqual(statusOf(pod, "app")?.lastState.terminated, undefined);
    await waitForEvent("cold", "Killing");
    const events = await eventsOf("cold");
    const way = ["Created", "Started", "FailedPostStartHook", "Killing"];
    const reasons = events.map(({ event }) => event).filter((event) => way.includes(event));
    assert.deepEqual(reasons.slice(0, 4), way);
    assert.ok(events.some(({ event, msg }) => event === "Killing" && msg.endsWith(": FailedPostStartHook")));
  });

  test("all preStop hooks run at once, each ends before its container's stop signal; sidecars stop last, in reverse", async () => {
    const sidecar = (name: string): Container => ({
      ...hooked(name, noting(name), { preStop: hook(note(`${name}-preStop`)) }),
      restartPolicy: "Always",
    });
    // The app's hook ends when it has seen those of the sidecars; they stop after the app.
    const seen = "until grep -q one-preStop /diary/lines && grep -q two-preStop /diary/lines; do sleep 0.1; done";
    const app = hooked("app", noting("app"), { preStop: hook(`${seen}; ${note("app-end")}`) });
    await write("order", [app], {
      initContainers: [sidecar("one"), sidecar("two")],
      terminationGracePeriodSeconds: 60,
    });
    await ready("order");
    for (const name of ["one", "two", "app"]) await waitForLine("order", `${name}-up`);
    await node.removeManifest("order");
    await waitGone(node, "order");
    const lines = (await diary("order")).filter((line) => !line.endsWith("-up"));
    assert.deepEqual(lines.slice(0, 2).sort(), ["one-preStop", "two-preStop"]);
    assert.deepEqual(lines.slice(2), ["app-end", "app-TERM", "two-TERM", "one-TERM"]);
    const killing = (await eventsOf("order")).filter(({ event }) => event === "Killing");
    // A stop that the runtime failed is repeated.
    assert.deepEqual(
      [...new Set(killing.map(({ msg }) => msg.slice(msg.lastIndexOf(": ") + 2)))].sort(),
      ["app", "one", "two"].map((name) => `Stopping container ${name}`),
    );
  });

  test("a preStop longer than the grace is cut, and the pod ends in time", async () => {
    await write("slow", [hooked("app", noting("app"), { preStop: hook(`${note("begun")}; sleep 600`) })], {
      terminationGracePeriodSeconds: 10,
    });
    await ready("slow");
    await waitForLine("slow", "app-up");
    await node.removeManifest("slow");
    await waitGone(node, "slow");
    assert.deepEqual((await diary("slow")).slice(-2), ["begun", "app-TERM"]);
    await waitForEvent("slow", "FailedPreStopHook");
  });

  test("a failed preStop hook is reported, and the container is stopped", async () => {
    await write("fails", [hooked("app", noting("app"), { preStop: hook("exit 3") })]);
    await ready("fails");
    await waitForLine("fails", "app-up");
    await node.removeManifest("fails");
    await waitGone(node, "fails");
    await waitForEvent("fails", "FailedPreStopHook");
    assert.equal((await diary("fails")).at(-1), "app-TERM");
  });

  test("a preStop that sleeps holds the stop signal back", async () => {
    const uptime = "cut -d' ' -f1 /proc/uptime";
    const script = `trap '${uptime.replaceAll("'", `'"'"'`)} >> /diary/lines; exit 0' TERM; while true; do sleep 3600 & wait $!; done`;
    await write("sleeps", [hooked("app", script, { preStop: { sleep: { seconds: 1 } } })], {
      terminationGracePeriodSeconds: 60,
    });
    await ready("sleeps");
    const asked = parseFloat(await readFile("/proc/uptime", "utf8"));
    await node.removeManifest("sleeps");
    await waitGone(node, "sleeps");
    const [stopped = "0"] = await diary("sleeps");
    assert.ok(Number(stopped) - asked >= 1, `stopped at ${stopped}, asked at ${asked}`);
  });
});

test("a kubelet killed in mid-stop: an interrupted hook runs again, a completed one does not", async () => {
  const grace = { terminationGracePeriodSeconds: 120 };
  const cut = `${note("begun")}; until [ -e /diary/go ]; do sleep 0.1; done; ${note("ended")}`;
  await write("cut", [hooked("app", noting("app"), { preStop: hook(cut) })], grace);
  const stubborn = `trap '${note("TERM")}' TERM; ${note("up")}; until [ -e /diary/go ]; do sleep 0.1; done`;
  await write("over", [hooked("app", stubborn, { preStop: hook(note("begun")) })], grace);
  await Promise.all([ready("cut"), ready("over"), waitForLine("cut", "app-up"), waitForLine("over", "up")]);
  await Promise.all([node.removeManifest("cut"), node.removeManifest("over")]);
  await Promise.all([waitForLine("cut", "begun"), waitForLine("over", "TERM")]);
  await node.kill9();
  await node.restart();
  const twice = (what: string, count: () => Promise<number>): Promise<true> =>
    waitFor(async () => (await count()) >= 2 || undefined, { what, timeoutMs: PATIENCE_MS, intervalMs: 50 });
  const stopsOfOver = async (): Promise<number> => {
    const lines = (await readFile(node.kubelet.log, "utf8")).split("\n");
    return lines.filter((line) => line.includes('"step":"kill-container"') && line.includes(`over-${NODE_NAME}_`))
      .length;
  };
  await Promise.all([
    twice("a second hook of cut", async () => (await diary("cut")).filter((line) => line === "begun").length),
    // The runtime sends the stop signal once, however often it is asked to stop.
    twice("a second stop of over", stopsOfOver),
  ]);
  await Promise.all(["cut", "over"].map((name) => mkdir(join(diaries, name, "go"))));
  await Promise.all([waitGone(node, "cut"), waitGone(node, "over")]);
  const lines = await diary("cut");
  assert.deepEqual([lines.at(-1), lines.includes("ended")], ["app-TERM", true]);
  assert.equal((await diary("over")).filter((line) => line === "begun").length, 1);
});
