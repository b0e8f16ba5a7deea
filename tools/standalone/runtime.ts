// `npm start` runs pods on a containerd of its own, or on one that is already there.
// Invariant: a runtime that others use is not taken: a kubelet removes the pods it does not know.

import { access } from "node:fs/promises";
import { startContainerd, type PrivateContainerd } from "./containerd.js";
import { call, connectCri, hasImage, runtimeProblem, type CriConnection } from "./cri.js";
import { isCommandFailed, run } from "./exec.js";
import { BUSYBOX_IMAGE, importImages, PAUSE_IMAGE } from "./images.js";
import { messageOf, SetupProblem } from "./problem.js";

/** A runtime that is ready and has the images. */
export interface Runtime {
  endpoint: string;
  /** Name and version: `containerd 1.6.20`. */
  name: string;
  /** Absent if it is not ours. */
  own?: OwnRuntime;
  /** Flags of a kubelet that uses it. */
  flags: readonly string[];
  /** Parent cgroup for pods. */
  cgroup: string;
  /** Removes all of a private runtime, or the imported images of another one. */
  stop: () => Promise<void>;
}

/** The process of a private runtime. */
export type OwnRuntime = Pick<PrivateContainerd, "pid" | "log" | "ending">;

/** Gets the path of a private runtime's log when its start fails, before it is removed. */
type OnFailure = (log: string) => Promise<void>;

type Step = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export async function startPrivateRuntime(
  dir: string,
  archive: string,
  step: Step,
  onFailure: OnFailure,
): Promise<Runtime> {
  const containerd = await step("starting a private containerd", () => startContainerd({ dir, onFailure }));
  try {
    await step("importing the images", () => importImages(containerd.socket, archive));
  } catch (error) {
    await onFailure(containerd.log);
    await containerd.stop();
    throw error;
  }
  return {
    endpoint: containerd.endpoint,
    own: containerd,
    flags: [],
    name: `containerd ${containerd.version}, private, in ${dir}`,
    cgroup: containerd.cgroup,
    stop: () => containerd.stop(),
  };
}

/**
 * An Engine with the images; the kubelet itself serves CRI over it.
 * @param cacheDir has Debian's packages if docker is not installed
 */
export async function startPrivateDocker(
  dir: string,
  archive: string,
  { cacheDir, step, onFailure }: { cacheDir: string; step: Step; onFailure: OnFailure },
): Promise<Runtime> {
  const { provideDocker, startDocker } = await import("./docker-engine.js");
  await step("finding the Docker Engine", () => provideDocker(cacheDir));
  const docker = await step("starting a private Docker Engine", () =>
    startDocker({ dir, archive, engineOnly: true, onFailure }),
  );
  return {
    endpoint: docker.endpoint,
    own: docker,
    name: `${docker.version}, private, in ${dir}: docker --host ${docker.dockerEndpoint}`,
    flags: ["--container-runtime=docker", ...docker.flags],
    cgroup: docker.cgroup,
    stop: () => docker.stop(),
  };
}

export async function useRunningRuntime(endpoint: string, archive: string, step: Step): Promise<Runtime> {
  const socket = endpoint.slice("unix://".length);
  await access(socket).catch(() => {
    throw new SetupProblem(`--container-runtime-endpoint: there is no socket ${socket}`);
  });
  const cri = connectCri(endpoint);
  try {
    const { runtimeName, runtimeVersion } = await step(`asking the runtime at ${socket}`, () => examine(cri, endpoint));
    const imported = await provideImages(cri, { socket, runtimeName, archive, step });
    return {
      endpoint,
      flags: [],
      name: `${runtimeName} ${runtimeVersion} at ${socket}`,
      cgroup: `/nodelet-${crypto.randomUUID().slice(0, 8)}`,
      stop: async () => {
        for (const image of imported) await run("ctr", [...ctrFlags(socket), "images", "remove", image]);
      },
    };
  } finally {
    cri.close();
  }
}

async function examine(cri: CriConnection, endpoint: string): Promise<{ runtimeName: string; runtimeVersion: string }> {
  try {
    const problem = await runtimeProblem(cri);
    if (problem !== undefined) throw new SetupProblem(`the runtime at ${endpoint} is not ready: ${problem}`);
    const { items } = await call<{ items: readonly unknown[] }>((done) =>
      cri.runtime.listPodSandbox({ filter: undefined }, done),
    );
    if (items.length > 0) {
      throw new SetupProblem(
        `the runtime at ${endpoint} has ${items.length} pod sandboxes of another kubelet, which this kubelet would remove`,
      );
    }
    return await call<{ runtimeName: string; runtimeVersion: string }>((done) =>
      cri.runtime.version({ version: "" }, done),
    );
  } catch (error) {
    if (error instanceof SetupProblem) throw error;
    throw new SetupProblem(`the runtime at ${endpoint} does not respond: ${messageOf(error)}`);
  }
}

/** Imports our images where `ctr` can; returns those that were not there before. */
async function provideImages(
  cri: CriConnection,
  { socket, runtimeName, archive, step }: { socket: string; runtimeName: string; archive: string; step: Step },
): Promise<string[]> {
  const missing: string[] = [];
  for (const image of [BUSYBOX_IMAGE, PAUSE_IMAGE]) if (!(await hasImage(cri, image))) missing.push(image);
  if (!missing.includes(BUSYBOX_IMAGE)) return [];
  if (runtimeName !== "containerd") {
    throw new SetupProblem(
      `${runtimeName} has no image ${BUSYBOX_IMAGE}; import it first, for example: ` +
        `skopeo copy oci-archive:${archive}:${BUSYBOX_IMAGE} containers-storage:${BUSYBOX_IMAGE}`,
    );
  }
  try {
    await step("importing the images", () => importImages(socket, archive));
  } catch (error) {
    if (isCommandFailed(error)) throw new SetupProblem(`importing the images: ${error.message}`);
    throw error;
  }
  return missing;
}

function ctrFlags(socket: string): string[] {
  return ["--address", socket, "--namespace", "k8s.io"];
}
