// One run of one seed, as a process of its own: kernel, world, plan, invariants. Its last line is its result as JSON.
// The first imports count what code runs, and replace the clock, the timers and the random numbers.

import { linesReached } from "./coverage/measure.js";
import "./kernel/globals.js";
import type { RunOrder, RunResult, Violation } from "./driver/order.js";
import { INVARIANTS } from "./invariants/all.js";
import { kernel } from "./kernel/kernel.js";
import type { Owner } from "./kernel/owner.js";
import { readableStack } from "./kernel/readable-stack.js";
import { Trace } from "./kernel/trace.js";
import { planOf } from "./plan/events.js";
import { RACES } from "./races/all.js";
import { planOfRace } from "./races/race.js";
import { nodeShape, PLAIN_NODE } from "./world/node-shape.js";
import { Reached } from "./world/reached.js";
import { World } from "./world/world.js";

const order = JSON.parse(process.argv[2] ?? "{}") as RunOrder;
kernel.seed(order.seed);
const trace = new Trace(order.prints === true ? (line) => process.stdout.write(`${line}\n`) : undefined);
const race = RACES.find(({ name }) => name === order.race);
const node = race === undefined ? nodeShape(kernel.random.stream("shape of the node")) : (race.node ?? PLAIN_NODE);
if (node !== PLAIN_NODE) trace.add(`node ${JSON.stringify(node)}`);
const plan =
  race !== undefined
    ? planOfRace(race)
    : planOf(kernel.random.stream("plan"), { ...order, node, faults: new Set(order.faults) });
const world = new World(kernel.random.stream("world"), trace, node);
const reached = new Reached(world);
let violation: Violation | undefined;

const promises = [
  ...INVARIANTS.map(({ name, watch }) => ({ name, watch })),
  ...(race === undefined ? [] : [{ name: race.promise, watch: race.watch }]),
];
const checks = promises.flatMap(({ name, watch }) => {
  const broken = (what: string, pod?: string): void => {
    trace.add(`BROKEN ${name}: ${what}${pod === undefined ? "" : ` (${pod})`}`);
    violation ??= { invariant: name, what, pod, atMs: kernel.monotonic, step: kernel.steps };
  };
  return watch(world, broken) ?? [];
});
world.runtime.watchers.add((verb, request) => {
  if (verb.startsWith("List") || verb === "ReopenContainerLog" || verb.endsWith("Status") || verb === "ExecSync")
    trace.add(`cri ${verb}`);
  else trace.add(`cri ${verb} ${subjectOf(request)}`);
});
world.api.onPod(({ type, object }) => {
  const { name, uid, deletionTimestamp } = object.metadata;
  const status = (object.status ?? {}) as { phase?: string };
  trace.add(`api ${type} ${name} ${uid} ${status.phase}${deletionTimestamp === undefined ? "" : " deleting"}`);
});
const events: number[] = [];
for (const event of plan) {
  if (order.only !== undefined && !order.only.includes(event.number) && !["calm", "check"].includes(event.action.do))
    continue;
  events.push(event.number);
  kernel.after(kernel.world, event.atMs, () => {
    world.perform(event);
    if (event.action.do === "check") for (const check of checks) check();
  });
}

function unowned(kind: string, error: unknown): void {
  const text = error instanceof Error ? readableStack(error.stack ?? error.message) : String(error);
  violation ??= {
    invariant: "every error has an owner",
    what: `${kind}: ${text}`,
    atMs: kernel.monotonic,
    step: kernel.steps,
  };
}
process.on("unhandledRejection", (error) => unowned("an unhandled rejection", error));
process.on("uncaughtException", (error) => unowned("an uncaught exception", error));
// Such as that of a leak: eleven listeners of one signal.
process.on("warning", (warning) => unowned("a warning of Node", warning));

const endMs = order.hours * 3_600_000;
await kernel.run(() => violation !== undefined || kernel.monotonic >= endMs, {
  uncaught: (owner: Owner, error) => unowned(`${owner.name} threw`, error),
});
const pod = violation?.pod;
const result: RunResult = {
  seed: order.seed,
  hash: trace.digest(),
  steps: kernel.steps,
  simulatedMs: Math.round(kernel.monotonic),
  cpuMs: Math.round((process.resourceUsage().userCPUTime + process.resourceUsage().systemCPUTime) / 1000),
  violation,
  reached: reached.values(),
  code: linesReached(),
  timeline:
    violation === undefined ? [] : trace.lines.filter((line) => pod === undefined || isAbout(line, pod)).slice(-120),
  events,
};
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(violation === undefined ? 0 : 1));

function isAbout(line: string, name: string): boolean {
  if (/ (event|kubelet) /.test(line) && !/ (create|edit|delete) /.test(line)) return true;
  return new RegExp(`\\b${name}(?!\\d)`).test(line);
}

function subjectOf(request: unknown): string {
  const { config, containerId, podSandboxId, image, timeout } = request as {
    config?: { metadata?: { name: string; attempt: number } };
    containerId?: string;
    podSandboxId?: string;
    image?: { image: string };
    timeout?: bigint;
  };
  const container = containerId === undefined ? undefined : world.runtime.state.containers.get(containerId);
  const labels = container?.config.labels ?? world.runtime.state.sandboxes.get(podSandboxId ?? "")?.config.labels ?? {};
  const name = config?.metadata?.name ?? container?.config.metadata?.name ?? image?.image ?? "";
  const grace = timeout === undefined ? "" : ` timeout=${timeout}`;
  return `${labels["io.kubernetes.pod.name"] ?? ""} ${name} ${config?.metadata?.attempt ?? ""} ${containerId?.slice(0, 12) ?? ""}${grace}`;
}
