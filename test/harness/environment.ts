// What lanes need: Debian packages, images, and for each lane a network namespace without external connections and a
// private runtime in it.

import { cp, mkdir, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { cdiDir } from "../../tools/standalone/containerd-config.js";
import { startContainerd, type PrivateContainerd } from "../../tools/standalone/containerd.js";
import { provideDocker, startDocker } from "../../tools/standalone/docker-engine.js";
import { widenPath } from "../../tools/standalone/exec.js";
import { buildImages, BUSYBOX_IMAGE, importImages } from "../../tools/standalone/images.js";
import { programsOf } from "../../tools/standalone/newest-runtime.js";
import { ensurePackages, missingPackages } from "../../tools/standalone/packages.js";
import { step } from "../../tools/standalone/progress.js";
import type { Run } from "../../tools/standalone/runs.js";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { makeMachineImages } from "../vm/image.js";
import { clientPrograms, needsClients, provideClients } from "./clients.js";
import { Lane } from "./lane.js";
import { nodeForTests } from "./node-choice.js";
import type { Job } from "./selection.js";
import type { LaneKind } from "./suites.js";

/** Debian packages of single files; the words are parts of their names. */
const TEST_PACKAGES = [
  {
    ...{ name: "docker-registry", program: "docker-registry" },
    files: ["registry-dead", "image-pull", "cri-validation", "dockershim-", "pull-secrets", "image-tokens"],
  },
  { name: "chromium", program: "chromium", files: ["status-page"] },
  { name: "prometheus", program: "promtool", files: ["monitoring"] },
];

/** Factor of the deadlines of tests on emulated machines. */
const MACHINE_PATIENCE = 3;

export interface OpenLane {
  readonly lane: Lane;
  close(): Promise<void>;
}

export class Environment {
  private archive = "";

  constructor(
    private readonly root: string,
    private readonly run: Run,
  ) {}

  /** Installs and makes what the lanes of these jobs share. @throws SetupProblem */
  async prepare(jobs: readonly Job[]): Promise<void> {
    await mkdir(this.tmpDir, { mode: 0o711 });
    if (!jobs.some(({ lane }) => hasRuntime(lane))) return;
    await this.copyBundle();
    widenPath();
    const say = (line: string): void => void process.stderr.write(`${line}\n`);
    await ensurePackages({ say, step, findMissing: (runtimeIsThere) => missingFor(jobs, runtimeIsThere) });
    this.archive = await step("making the pause and busybox images", () => buildImages(this.cache));
    if (needsClients(jobs)) await provideClients(this.cache, step);
    if (jobs.some(({ lane }) => lane === "docker"))
      await step("finding the Docker Engine", () => provideDocker(this.cache));
  }

  /** Downloads and makes what single lanes need: each would do it when it opens. @throws SetupProblem */
  async provide(jobs: readonly Job[]): Promise<void> {
    const kinds = new Set(jobs.map(({ lane }) => lane));
    for (const kind of kinds) await nodeForTests(this.root, kind);
    if (kinds.has("containerd2")) await programsOf("newest", this.cache, step);
    if (kinds.has("machine")) await makeMachineImages(this.root);
  }

  /**
   * Makes a lane of its own. `name` is part of its namespace's name, `slowness` the factor of its tests' deadlines.
   */
  async open(kind: LaneKind, name: string, slowness: number): Promise<OpenLane> {
    const node = await nodeForTests(this.root, kind);
    const path = [dirname(node), process.env["PATH"] ?? ""].join(delimiter);
    // What a test starts has the runtime of its lane.
    const containerd = kind === "containerd2" ? "newest" : "installed";
    // Emulated machines are slow, and slower beside other lanes.
    const patience = PATIENCE * Math.max(slowness, kind === "machine" ? MACHINE_PATIENCE : 1);
    const env = {
      ...{ TMPDIR: this.tmpDir, PATH: path, NODELET_CONTAINERD: containerd },
      NODELET_PATIENCE: String(patience),
    };
    if (!hasRuntime(kind)) {
      const lane = new Lane({ kind, node, env });
      return { lane, close: () => lane.stop() };
    }
    const programs = await programsOf(containerd, this.cache, step);
    const { netns, dir } = await this.run.place(name);
    const runtime = await this.startRuntime(kind, join(dir, "c"), netns, programs);
    const lane = new Lane({
      kind,
      node,
      netns,
      env: {
        ...env,
        ...(programs === undefined ? {} : { PATH: [programs, path].join(delimiter) }),
        ...(kind === "docker" ? { NODELET_TEST_RUNTIME: "docker" } : {}),
        // containerd 1.6 has no CDI.
        ...(parseInt(runtime.version.replace("v", "")) >= 2 ? { NODELET_TEST_CDI_DIR: cdiDir(runtime.dir) } : {}),
        NODELET_AGENT_DIR: this.agentDir,
        NODELET_NETNS: netns,
        NODELET_TEST_DIR: dir,
        NODELET_CRI_ENDPOINT: runtime.endpoint,
        NODELET_CGROUP_ROOT: runtime.cgroup,
        NODELET_TEST_IMAGE: BUSYBOX_IMAGE,
        NODELET_TEST_IMAGES: this.archive,
        NODELET_TEST_CLIENTS: clientPrograms(this.cache),
      },
    });
    return {
      lane,
      close: async () => {
        await lane.stop();
        await runtime.stop();
      },
    };
  }

  private async startRuntime(
    kind: LaneKind,
    dir: string,
    netns: string,
    programs: string | undefined,
  ): Promise<PrivateContainerd> {
    const { archive } = this;
    if (kind === "docker") return step("starting a private Docker Engine", () => startDocker({ dir, netns, archive }));
    return step(`starting a private ${kind}`, async () => {
      const containerd = await startContainerd({ dir, netns, ...(programs === undefined ? {} : { programs }) });
      await importImages(containerd.socket, archive, programs === undefined ? "ctr" : join(programs, "ctr"));
      return containerd;
    });
  }

  /**
   * Another run in this checkout may build while this one goes on. Packages that the bundle does not contain are found
   * above it.
   */
  private async copyBundle(): Promise<void> {
    await cp(join(this.root, "dist", "agent"), this.agentDir, { recursive: true });
    await symlink(join(this.root, "node_modules"), join(this.run.dir, "node_modules"));
  }

  private get agentDir(): string {
    return join(this.run.dir, "agent");
  }

  private get cache(): string {
    return join(this.root, ".cache");
  }

  private get tmpDir(): string {
    return join(this.run.dir, "t");
  }
}

function hasRuntime(kind: LaneKind): boolean {
  return kind !== "plain" && kind !== "machine";
}

/** Packages for `npm start`, and packages of single tests. */
function missingFor(jobs: readonly Job[], runtimeIsThere: boolean): Promise<string[]> {
  const needed = TEST_PACKAGES.filter(({ files }) =>
    jobs.some((job) => hasRuntime(job.lane) && files.some((file) => job.name.includes(file))),
  );
  return missingPackages(runtimeIsThere, needed);
}
