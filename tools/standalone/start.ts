// `npm start`: packages → images → runtime → kubelet → example pods → `ready:` → wait → everything removed again.
// Invariant: after the state folder is taken, teardown runs in every case; pods end gracefully unless the
// user is in a hurry; the first reason of a failure is the one that is reported.

import { copyFile, mkdir, readdir, rename } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endPods } from "./end-pods.js";
import { widenPath } from "./exec.js";
import { buildImages } from "./images.js";
import { KeptLogs } from "./kept-logs.js";
import { NODELET_ENTRY, prepareKubelet, type KubeletProcess } from "./kubelet-process.js";
import { chooseRuntime } from "./newest-runtime.js";
import type { StartOptions } from "./options.js";
import { ensurePackages } from "./packages.js";
import { isRunning, isSettled, podTable, type PodView } from "./pods.js";
import { isSetupProblem, messageOf, SetupProblem } from "./problem.js";
import { lastLines } from "./process-end.js";
import { step } from "./progress.js";
import { startPrivateDocker, startPrivateRuntime, useRunningRuntime, type Runtime } from "./runtime.js";
import { STOPPED, watchSignals, type StopSignals } from "./signals.js";
import { claimStateDir, type StateDir } from "./state-dir.js";
import { waitFor } from "./wait.js";

/** The repository's (or package's) folder, seen from dist/tools/standalone. */
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const EXAMPLES = join(ROOT, "tools", "standalone", "manifests");
const CACHE = join(ROOT, ".cache");
const SAMPLE = "hello";
const POLL_MS = 10;

const say = (line: string): unknown => process.stderr.write(`${line}\n`);

/** Runs `npm start`; returns the exit status. */
export async function main(options: StartOptions): Promise<number> {
  try {
    return await start(options);
  } catch (error) {
    if (!isSetupProblem(error)) throw error;
    say(`nodelet: ${error.message}`);
    return 1;
  }
}

async function start(options: StartOptions): Promise<number> {
  widenPath();
  await ensurePackages({ say, step, ...(options.endpoint === undefined ? {} : { runtimeIsThere: true }) });
  if (options.endpoint === undefined && options.runtime === "containerd")
    await chooseRuntime({ cacheDir: CACHE, step });
  const signals = watchSignals((line) => say(line));
  const run: Run = { options, signals, logs: new KeptLogs(options.stateDir, say) };
  let status = 0;
  try {
    run.state = await claimStateDir(options.stateDir, say);
    // Only now: a killed run's kubelet may have held them until its leftovers were removed.
    const { readOnlyPort, healthzPort, statusPagePort, port, apiPort } = options;
    const wished = [port, apiPort].filter((one) => one !== undefined);
    await requireFreePorts([readOnlyPort, healthzPort, statusPagePort, ...wished]);
    await bringUp(run, run.state);
    if (!options.untilReady) status = await waitForTheEnd(run);
  } catch (error) {
    status = signals.stopped.aborted ? STOPPED : 1;
    if (!signals.stopped.aborted) say(`nodelet: ${isSetupProblem(error) ? error.message : describe(error)}`);
  }
  if (status === 1) await run.logs.keep([run.kubelet?.log, run.runtime?.own?.log]);
  try {
    await tearDown(run);
  } catch (error) {
    say(`nodelet: cleaning up: ${messageOf(error)}; the next run in ${options.stateDir} will try again`);
    status = status === 0 ? 1 : status;
  }
  run.logs.announce();
  signals.unwatch();
  return status;
}

/** Resources to remove at the end; each is added when it is created. */
interface Run {
  options: StartOptions;
  signals: StopSignals;
  logs: KeptLogs;
  state?: StateDir;
  runtime?: Runtime;
  kubelet?: KubeletProcess;
}

async function bringUp(run: Run, state: StateDir): Promise<void> {
  const { options, signals, logs } = run;
  const onFailure = (log: string): Promise<void> => logs.keep([log]);
  const next = <T>(name: string, work: () => Promise<T>): Promise<T> => {
    signals.stopped.throwIfAborted();
    return step(name, work);
  };
  const archive = await next("making the pause and busybox images", () => buildImages(CACHE));
  run.runtime =
    options.endpoint !== undefined
      ? await useRunningRuntime(options.endpoint, archive, next)
      : options.runtime === "docker"
        ? await startPrivateDocker(state.containerd, archive, { cacheDir: CACHE, step: next, onFailure })
        : await startPrivateRuntime(state.containerd, archive, next, onFailure);
  if (options.endpoint !== undefined) await state.remember({ cgroup: run.runtime.cgroup });

  const kubelet = await prepareKubelet({
    dir: state.path,
    endpoint: run.runtime.endpoint,
    cgroupRoot: run.runtime.cgroup,
    readOnlyPort: options.readOnlyPort,
    readOnlyPods: false,
    healthzPort: options.healthzPort,
    flags: [
      `--status-page-port=${options.statusPagePort}`,
      "--manifest-api=socket",
      ...apiFlags(options),
      ...run.runtime.flags,
    ],
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  run.kubelet = kubelet;
  await next("starting the kubelet", async () => {
    await kubelet.start();
    if (kubelet.identity !== undefined) await state.remember({ kubelet: kubelet.identity });
    await kubelet.waitHealthy().catch((error: unknown) => {
      throw new SetupProblem(messageOf(error));
    });
  });

  const elapsed = await next(`waiting for the pod ${SAMPLE} to run`, () => placeSample(run, kubelet));
  process.stdout.write(
    `ready: pod ${SAMPLE} is Running ${elapsed.toFixed(0)} ms after its manifest was put in place\n`,
  );
  const pods = await next("starting the other examples", () => placeOthers(run, kubelet));
  process.stdout.write(`\n${podTable(pods)}\n\n`);
  const where = run.runtime.name;
  const web = pods.find((pod) => pod.metadata.name.startsWith(SAMPLE))?.status?.podIP;
  process.stdout.write(
    [
      `runtime   ${where}`,
      `page      http://127.0.0.1:${options.statusPagePort}/ui/`,
      `health    ${kubelet.healthzUrl}`,
      `metrics   ${kubelet.url}/metrics`,
      ...(web === undefined ? [] : [`sample    http://${web}:8080/`]),
      `manifests ${kubelet.manifests}   (edit, add or remove files: the pods follow)`,
      ...(options.apiPort === undefined
        ? []
        : [`kubectl   kubectl --kubeconfig ${join(kubelet.rootDir, "nodelet/api/admin.kubeconfig")} get pods`]),
      `log       ${kubelet.log}`,
      `nodelet   ${NODELET_ENTRY} --root-dir ${kubelet.rootDir} status   (also apply -f <file>, pods, why <pod>, logs <pod>; --help)`,
      "",
    ].join("\n"),
  );
}

function apiFlags({ apiPort }: StartOptions): string[] {
  return apiPort === undefined ? [] : [`--api-server-port=${apiPort}`];
}

/** Milliseconds from the sample's manifest being in place to Running, as /pods shows it. */
async function placeSample({ options, signals }: Run, kubelet: KubeletProcess): Promise<number> {
  const began = performance.now();
  await placeManifest(`${SAMPLE}.yaml`, kubelet);
  await awaitPods(kubelet, options, signals, `the pod ${SAMPLE}`, (pods) => pods.some(isRunning));
  return performance.now() - began;
}

async function placeOthers({ options, signals }: Run, kubelet: KubeletProcess): Promise<PodView[]> {
  const names = (await readdir(EXAMPLES)).filter((name) => /\.(ya?ml|json)$/.test(name));
  for (const name of names) if (name !== `${SAMPLE}.yaml`) await placeManifest(name, kubelet);
  return awaitPods(kubelet, options, signals, "all example pods", (pods) => {
    return pods.length >= names.length && pods.every(isSettled);
  });
}

/** Written beside the folder and renamed into it: the kubelet never sees half a file. */
async function placeManifest(name: string, kubelet: KubeletProcess): Promise<void> {
  const outside = join(kubelet.dir, "incoming");
  await mkdir(outside, { recursive: true });
  await copyFile(join(EXAMPLES, name), join(outside, name));
  await rename(join(outside, name), join(kubelet.manifests, name));
}

async function awaitPods(
  kubelet: KubeletProcess,
  options: StartOptions,
  signals: StopSignals,
  what: string,
  condition: (pods: PodView[]) => boolean,
): Promise<PodView[]> {
  let pods: PodView[] = [];
  const met = async (): Promise<boolean> => {
    pods = await kubelet.pods();
    return condition(pods);
  };
  await waitFor(async () => kubelet.pid === undefined || (await met()), {
    what: `${what} to run`,
    timeoutMs: options.timeoutSeconds * 1000,
    intervalMs: POLL_MS,
    signal: signals.stopped,
    lastSeen: async () => `\n${podTable(pods)}\nThe end of the kubelet's log:\n${await lastLines(kubelet.log)}`,
  }).catch((error: unknown) => {
    if (signals.stopped.aborted) throw error;
    throw new SetupProblem(messageOf(error));
  });
  if (kubelet.pid === undefined) throw new SetupProblem(`while ${what} started, ${await kubelet.ending()}`);
  return pods;
}

/** Until Ctrl-C, or until the kubelet or the private runtime ends by itself. */
async function waitForTheEnd({ signals, kubelet, runtime }: Run): Promise<number> {
  say("\nCtrl-C stops the pods and removes everything.");
  const processes = [kubelet, runtime?.own].filter((one) => one !== undefined);
  const ended = await waitFor(
    () => (signals.stopped.aborted ? "signal" : processes.find(({ pid }) => pid === undefined)),
    { what: "the end", timeoutMs: Infinity, intervalMs: 100 },
  );
  if (ended === "signal") return 0;
  say(`nodelet: ${await ended.ending()}`);
  return 1;
}

/** Pods first and gracefully, then the kubelet, then the runtime, then the files. */
async function tearDown({ signals, state, runtime, kubelet }: Run): Promise<void> {
  // Without its runtime the kubelet cannot end a pod.
  const hasRuntime = runtime?.own === undefined || runtime.own.pid !== undefined;
  if (kubelet?.pid !== undefined && hasRuntime && !signals.hurried.aborted) {
    await step("ending the pods", () => endPods(kubelet, say, signals.hurried)).catch((error: unknown) => {
      if (!signals.hurried.aborted) say(`nodelet: ${messageOf(error)}; ending them by force`);
    });
  }
  await step("removing everything", async () => {
    await kubelet?.end(signals.hurried.aborted ? "SIGKILL" : "SIGTERM");
    await runtime?.stop();
    await state?.remove();
  });
}

async function requireFreePorts(ports: readonly number[]): Promise<void> {
  for (const port of ports) {
    await new Promise<void>((resolve, reject) => {
      const server = createServer();
      server.once("error", () =>
        reject(
          new SetupProblem(`port ${port} on 127.0.0.1 is in use, by another kubelet perhaps: choose another (--help)`),
        ),
      );
      server.listen(port, "127.0.0.1", () => server.close(() => resolve()));
    });
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
