// Why this file exists: pods can run on the Docker Engine, too (docs/docker.md). This starts an Engine that shares
// nothing with the system's (data, exec root, socket, its own containerd), and beside it the kubelet's CRI server over
// it, `kubelet --experimental-dockershim`.
// Invariant: everything it creates is in its folder, or in its record (instance.ts) before the creation. So stop(), or
// the next run after a crash, removes all of it.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { access, chmod, mkdir, mkdtemp, open, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { cniConfDir, cniConfig } from "./containerd-config.js";
import type { PrivateContainerd } from "./containerd.js";
import { connectCri, runtimeProblem } from "./cri.js";
import { findExecutable, isCommandFailed, run } from "./exec.js";
import { PAUSE_IMAGE } from "./images.js";
import { readRecord, removeInstance, writeRecord, type InstanceRecord } from "./instance.js";
import { KUBELET_ENTRY, KUBELET_NODE_FLAGS } from "./kubelet-process.js";
import { moveIntoPlace } from "./move-into-place.js";
import { currentNetns, inNetns, runInNetns } from "./netns.js";
import { findCniBinDir } from "./packages.js";
import { portmapChains } from "./portmap-rules.js";
import { messageOf, SetupProblem } from "./problem.js";
import { describeEnd, howItEnded, lastLines } from "./process-end.js";
import { readProcess, signalAndWait } from "./processes.js";
import { chooseSubnet } from "./subnet.js";
import { waitFor } from "./wait.js";

const READY_TIMEOUT_MS = 60_000;
const DOWNLOAD_MS = 10 * 60_000;
/** Debian's; tini is the Engine's docker-init. */
const PACKAGES = ["docker.io", "tini", "libdevmapper1.02.1"];

/**
 * Has dockerd on the path of this process: the installed one, or Debian's packages unpacked below `cacheDir`.
 * @throws SetupProblem
 */
export async function provideDocker(cacheDir: string): Promise<void> {
  if ((await findExecutable("dockerd")) !== undefined) return;
  const folder = join(cacheDir, "docker");
  const programs = ["usr/sbin", "usr/bin"].map((path) => join(folder, path));
  const isThere = await access(join(folder, "usr/sbin/dockerd")).then(
    () => true,
    () => false,
  );
  if (!isThere) await unpack(folder);
  process.env["PATH"] = [...programs, process.env["PATH"] ?? ""].join(delimiter);
}

async function unpack(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  // Of this process alone: another one may unpack the same at the same time.
  const incoming = await mkdtemp(`${folder}-`);
  try {
    await chmod(incoming, 0o755);
    const into = { cwd: incoming, timeoutMs: DOWNLOAD_MS };
    const options = ["-q", "-o", "APT::Sandbox::User=root"];
    // Lists of a fresh machine are empty.
    await run("apt-get", [...options, "download", ...PACKAGES], into).catch(async (error: unknown) => {
      if (!isCommandFailed(error)) throw error;
      await run("apt-get", [...options, "update"], into);
      await run("apt-get", [...options, "download", ...PACKAGES], into);
    });
    for (const name of await readdir(incoming)) {
      if (!name.endsWith(".deb")) continue;
      await run("dpkg-deb", ["--extract", join(incoming, name), incoming]);
      await rm(join(incoming, name));
    }
    await moveIntoPlace(incoming, folder);
  } catch (error) {
    if (isCommandFailed(error))
      throw new SetupProblem(`unpacking the Docker Engine: ${error.message}; or install docker.io`);
    throw error;
  } finally {
    await rm(incoming, { recursive: true, force: true });
  }
}

export interface DockerOptions {
  /** Folder for everything; must not be in use. Made here, removed by stop(). */
  dir: string;
  /** The Engine's data, which is the caller's to remove; by default in `dir`. */
  dataRoot?: string;
  netns?: string;
  /** Archive with the images, in docker's own form, too. */
  archive: string;
  /** No CRI server: a kubelet with --container-runtime=docker serves it itself. */
  engineOnly?: boolean;
  /** Gets the path of the log after a start that failed, before everything is removed. */
  onFailure?: (log: string) => Promise<void>;
}

/** An Engine with its CRI server, as the tests use a containerd. */
export interface PrivateDocker extends PrivateContainerd {
  /** `unix:///…/docker.sock` */
  readonly dockerEndpoint: string;
  /** Flags of a kubelet that serves CRI over this Engine itself. */
  readonly flags: readonly string[];
  /** Signals dockerd alone: SIGSTOP makes it hang. */
  signalEngine(signal: NodeJS.Signals): void;
}

/** Starts a private Docker Engine with the images and its CRI server. @throws SetupProblem */
export async function startDocker(options: DockerOptions): Promise<PrivateDocker> {
  const stale = await readRecord(options.dir);
  if (stale !== undefined) await removeInstance(stale);
  const instance = await prepare(options);
  try {
    await instance.start();
    await instance.load(options.archive);
  } catch (error) {
    const tail = await lastLines(instance.log, 5);
    await options.onFailure?.(instance.log);
    await instance.stop();
    throw new SetupProblem(`the private Docker Engine did not become ready: ${messageOf(error)}\n${tail}`);
  }
  return instance;
}

async function prepare({ dir: folder, dataRoot, netns, engineOnly = false }: DockerOptions): Promise<Docker> {
  const cniBinDir = await findCniBinDir();
  if (cniBinDir === undefined)
    throw new SetupProblem("no CNI plugins: install the Debian package containernetworking-plugins");
  await rm(folder, { recursive: true, force: true });
  await mkdir(cniConfDir(folder), { recursive: true, mode: 0o711 });
  const dir = await realpath(folder);
  const id = crypto.randomUUID().slice(0, 8);
  const record: InstanceRecord = {
    version: 1,
    dir,
    // That of the Engine's own containerd, which its shims name.
    socket: join(dir, "exec", "containerd", "containerd.sock"),
    ...(netns === undefined ? {} : { netns }),
    ownNetns: await currentNetns(),
    network: `nodelet-${id}`,
    bridge: `nl-${id}`,
    subnet: await chooseSubnet(netns, parseInt(id, 16)),
    cgroup: `/nodelet-${id}`,
    ipForward: (await runInNetns(netns, "cat", ["/proc/sys/net/ipv4/ip_forward"])).trim(),
    portmapChains: await portmapChains(netns),
  };
  await writeRecord(record);
  await writeFile(join(cniConfDir(dir), "10-nodelet.conflist"), cniConfig(record));
  await writeFile(join(dir, "daemon.json"), "{}");
  return new Docker(record, cniBinDir, engineOnly, dataRoot ?? join(dir, "data"));
}

class Docker implements PrivateDocker {
  readonly dir: string;
  readonly socket: string;
  readonly endpoint: string;
  readonly dockerEndpoint: string;
  readonly cgroup: string;
  readonly bridge: string;
  readonly subnet: string;
  readonly log: string;
  readonly flags: readonly string[];
  version = "";
  private engine: ChildProcess | undefined;
  private shim: ChildProcess | undefined;

  constructor(
    private readonly record: InstanceRecord,
    cniBinDir: string,
    private readonly engineOnly: boolean,
    private readonly dataRoot: string,
  ) {
    const { dir, cgroup, bridge, subnet } = record;
    this.dir = dir;
    this.cgroup = cgroup;
    this.bridge = bridge;
    this.subnet = subnet;
    this.socket = join(dir, "dockershim.sock");
    this.endpoint = `unix://${this.socket}`;
    this.dockerEndpoint = `unix://${join(dir, "docker.sock")}`;
    this.log = join(dir, "dockerd.log");
    this.flags = [
      ...["--docker-endpoint", this.dockerEndpoint],
      ...["--network-plugin", "cni", "--cni-bin-dir", cniBinDir],
      ...["--cni-conf-dir", cniConfDir(dir), "--cni-cache-dir", join(dir, "cni", "cache")],
      ...["--pod-infra-container-image", PAUSE_IMAGE],
    ];
  }

  get pid(): number | undefined {
    return isRunning(this.engine) ? this.engine?.pid : undefined;
  }

  ending(): Promise<string> {
    return describeEnd("the private dockerd", { child: this.engine, log: this.log });
  }

  async start(): Promise<void> {
    if (this.pid === undefined) await this.startEngine();
    if (!this.engineOnly && !isRunning(this.shim)) await this.startShim();
  }

  async load(archive: string): Promise<void> {
    await run("docker", ["--host", this.dockerEndpoint, "load", "--input", archive]);
  }

  async kill9(): Promise<void> {
    const { engine } = this;
    if (!isRunning(engine)) return;
    engine?.kill("SIGKILL");
    await waitFor(() => !isRunning(engine), { what: "Node to notice that dockerd ended", intervalMs: 5 });
    await this.endContainerd();
  }

  /**
   * The kernel kills dockerd's containerd with it. A pid file that names a zombie, or another process, would keep the
   * next dockerd waiting.
   */
  private async endContainerd(): Promise<void> {
    const pidFile = join(this.dir, "exec", "containerd", "containerd.pid");
    const pid = Number(await readFile(pidFile, "utf8").catch(() => "0"));
    const identity = pid > 0 ? await readProcess(pid) : undefined;
    if (identity !== undefined) await signalAndWait([identity], "SIGKILL", READY_TIMEOUT_MS);
    await rm(pidFile, { force: true });
  }

  async restart(): Promise<void> {
    const { engine } = this;
    engine?.kill("SIGTERM");
    await waitFor(() => !isRunning(engine), { what: "dockerd to end", timeoutMs: READY_TIMEOUT_MS, intervalMs: 5 });
    await this.start();
  }

  signalEngine(signal: NodeJS.Signals): void {
    this.engine?.kill(signal);
  }

  async stop(): Promise<void> {
    this.engine?.kill("SIGCONT");
    for (const child of [this.shim, this.engine]) {
      const identity = child?.pid === undefined ? undefined : await readProcess(child.pid);
      if (identity !== undefined) await signalAndWait([identity], "SIGTERM", READY_TIMEOUT_MS);
    }
    await removeInstance(this.record);
  }

  private async startEngine(): Promise<void> {
    const { dir } = this;
    const dockerd = await findExecutable("dockerd");
    if (dockerd === undefined) throw new SetupProblem("no dockerd: install the Debian package docker.io");
    await rm(join(dir, "docker.pid"), { force: true });
    this.engine = await this.spawned(
      this.log,
      dockerd,
      ...["--config-file", join(dir, "daemon.json"), "--data-root", this.dataRoot, "--exec-root", join(dir, "exec")],
      ...["--host", this.dockerEndpoint, "--pidfile", join(dir, "docker.pid")],
      ...["--bridge", "none", "--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false"],
      ...["--userland-proxy=false", "--live-restore", "--exec-opt", "native.cgroupdriver=cgroupfs"],
    );
    const { engine } = this;
    await waitFor(
      async () => {
        if (!isRunning(engine)) return true;
        const text = await run("docker", ["--host", this.dockerEndpoint, "version", "--format", "{{.Server.Version}}"]);
        this.version = `docker ${text.trim()}`;
        return true;
      },
      { what: `dockerd on ${this.dockerEndpoint} to respond`, timeoutMs: READY_TIMEOUT_MS, intervalMs: 50 },
    );
    if (!isRunning(engine)) throw new SetupProblem(`dockerd ended with ${howItEnded(engine)}`);
    const identity = engine.pid === undefined ? undefined : await readProcess(engine.pid);
    if (identity !== undefined) {
      this.record.containerd = { pid: identity.pid, startTicks: identity.startTicks };
      await writeRecord(this.record);
    }
  }

  private async startShim(): Promise<void> {
    this.shim = await this.spawned(
      join(this.dir, "dockershim.log"),
      process.execPath,
      ...KUBELET_NODE_FLAGS,
      KUBELET_ENTRY,
      ...["--experimental-dockershim", "--container-runtime-endpoint", this.endpoint],
      ...["--root-dir", join(this.dir, "kubelet"), ...this.flags],
    );
    const { shim } = this;
    const cri = connectCri(this.endpoint);
    try {
      await waitFor(
        async () => {
          if (!isRunning(shim)) return true;
          const problem = await runtimeProblem(cri);
          if (problem !== undefined) throw new Error(problem);
          return true;
        },
        { what: `the dockershim on ${this.socket} to be ready`, timeoutMs: READY_TIMEOUT_MS, intervalMs: 50 },
      );
    } finally {
      cri.close();
    }
    if (!isRunning(shim))
      throw new SetupProblem(
        await describeEnd("kubelet --experimental-dockershim", { child: shim, log: join(this.dir, "dockershim.log") }),
      );
  }

  private async spawned(logFile: string, program: string, ...rest: string[]): Promise<ChildProcess> {
    const log = await open(logFile, "a");
    const { command, args } = inNetns(this.record.netns, program, rest);
    const child = spawn(command, args, { detached: true, stdio: ["ignore", log.fd, log.fd] });
    await Promise.race([once(child, "spawn"), once(child, "error").then(([error]) => Promise.reject(error as Error))]);
    await log.close();
    return child;
  }
}

function isRunning(child: ChildProcess | undefined): boolean {
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}
