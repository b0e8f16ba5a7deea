// The test command. Outside: packages, a network namespace without a way out, one private containerd in it with the
// images; then this program again inside the namespace, where all suites run. Whatever happens, all of it is removed.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startContainerd, type PrivateContainerd } from "../../packaging/standalone/containerd.js";
import { provideDocker, startDocker } from "../../packaging/standalone/docker-engine.js";
import { cdiDir } from "../../packaging/standalone/containerd-config.js";
import { findExecutable, widenPath } from "../../packaging/standalone/exec.js";
import { buildImages, BUSYBOX_IMAGE, importImages } from "../../packaging/standalone/images.js";
import { removeInstancesBelow } from "../../packaging/standalone/instance.js";
import { unmountBelow } from "../../packaging/standalone/mounts.js";
import { createNetns, deleteNetns, inNetns } from "../../packaging/standalone/netns.js";
import { chooseRuntime } from "../../packaging/standalone/newest-runtime.js";
import { ensurePackages, missingPackages } from "../../packaging/standalone/packages.js";
import { processesUsing, signalAndWait } from "../../packaging/standalone/processes.js";
import { step } from "../../packaging/standalone/progress.js";
import { filesOf, runSuite, select, summary, type Selection, type Tally } from "./suites.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const INSIDE = "NODELET_TEST_INSIDE";
const TEST_PACKAGES = [
  { name: "docker-registry", program: "docker-registry" },
  { name: "chromium", program: "chromium" },
  { name: "prometheus", program: "promtool" },
];

/** Runs what `words` select; returns the exit status. */
export async function main(words: readonly string[]): Promise<number> {
  const selection = select(words);
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    const isPlain = selection.suites.every(({ environment }) => environment !== true);
    if (process.env[INSIDE] === "1" || isPlain) return await runSelection(selection, stop.signal);
    return await withEnvironment(words, stop.signal);
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

async function runSelection({ suites, filters }: Selection, signal: AbortSignal): Promise<number> {
  const tallies: Tally[] = [];
  for (const suite of suites) {
    const files = filesOf(ROOT, suite, filters);
    if (files.length === 0) continue;
    console.log(`\n== ${suite.name}: ${files.length} files`);
    tallies.push(await runSuite(ROOT, suite, files, signal));
    if (signal.aborted) break;
  }
  console.log(summary(tallies));
  if (signal.aborted) return 130;
  if (tallies.length === 0) console.log("no test file matches");
  return tallies.length > 0 && tallies.every(({ failed }) => failed === 0) ? 0 : 1;
}

async function withEnvironment(words: readonly string[], signal: AbortSignal): Promise<number> {
  widenPath();
  await ensurePackages({ say: (line) => process.stderr.write(`${line}\n`), step, findMissing });
  await chooseRuntime({ cacheDir: join(ROOT, ".cache"), step });
  const archive = await step("making the pause and busybox images", () => buildImages(join(ROOT, ".cache")));
  const dir = await mkdtemp(join(tmpdir(), "nodelet-run-"));
  // Root of a user namespace passes through it to its container's files.
  await chmod(dir, 0o711);
  const netns = `nodelet-test-${process.pid}`;
  let containerd: PrivateContainerd | undefined;
  try {
    await createNetns(netns);
    containerd = await startRuntime(dir, netns, archive);
    return await runInside(words, signal, netns, {
      [INSIDE]: "1",
      NODELET_NETNS: netns,
      NODELET_TEST_DIR: dir,
      NODELET_CRI_ENDPOINT: containerd.endpoint,
      // containerd 1.6 has no CDI.
      ...(parseInt(containerd.version.replace("v", "")) >= 2 && { NODELET_TEST_CDI_DIR: cdiDir(containerd.dir) }),
      NODELET_CGROUP_ROOT: containerd.cgroup,
      NODELET_TEST_IMAGE: BUSYBOX_IMAGE,
      NODELET_TEST_IMAGES: archive,
    });
  } finally {
    await cleanUp(dir, netns, containerd);
  }
}

/** A containerd, or with NODELET_TEST_RUNTIME=docker a Docker Engine with the kubelet's CRI server over it. */
async function startRuntime(dir: string, netns: string, archive: string): Promise<PrivateContainerd> {
  if (process.env["NODELET_TEST_RUNTIME"] === "docker") {
    await step("finding the Docker Engine", () => provideDocker(join(ROOT, ".cache")));
    return step("starting a private Docker Engine", () => startDocker({ dir: join(dir, "c"), netns, archive }));
  }
  const containerd = await step("starting a private containerd", () => startContainerd({ dir: join(dir, "c"), netns }));
  await importImages(containerd.socket, archive);
  return containerd;
}

/** Packages for `npm start`, and packages only for tests. */
async function findMissing(runtimeIsThere: boolean): Promise<string[]> {
  const own = await Promise.all(
    TEST_PACKAGES.map(async ({ name, program }) => ((await findExecutable(program)) === undefined ? [name] : [])),
  );
  return [...(await missingPackages(runtimeIsThere)), ...own.flat()];
}

/** Tests that were killed could not clean up after themselves: their agents and runtimes are found by our folder. */
async function cleanUp(dir: string, netns: string, containerd: PrivateContainerd | undefined): Promise<void> {
  await containerd?.stop();
  const agents = (await processesUsing(dir)).filter(({ args }) => args.includes("--root-dir"));
  await signalAndWait(agents, "SIGKILL", 15_000);
  await removeInstancesBelow(dir, netns);
  await unmountBelow(dir);
  await deleteNetns(netns);
  await rm(dir, { recursive: true, force: true });
}

async function runInside(
  words: readonly string[],
  signal: AbortSignal,
  netns: string,
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const { command, args } = inNetns(netns, process.execPath, [join(ROOT, "test", "run.mjs"), ...words]);
  const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, ...env } });
  const onAbort = (): unknown => child.kill("SIGTERM");
  signal.addEventListener("abort", onAbort);
  try {
    const [status] = (await once(child, "exit")) as [number | null];
    return status ?? 1;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
