// Pods need a runtime, and the system's may be absent, in use or differently configured. This
// starts a containerd that shares nothing with it: root, state, socket, runc records, CNI network, bridge and subnet
// of its own.
//
// An instance:  starting ──ready──► running ──kill9──► dead ──start──► running ──stop──► removed
// Invariant: everything it makes is in its folder or its record (instance.ts) before it is made, so that stop(),
// or the next run after a crash, removes all of it.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { cniConfDir, cniConfig, containerdConfig } from "./containerd-config.js";
import { connectCri, runtimeProblem } from "./cri.js";
import { findExecutable } from "./exec.js";
import { canMountOverlay, containerdVersion, hasAppArmor, hasSysResource } from "./host.js";
import { PAUSE_IMAGE } from "./images.js";
import { readRecord, removeInstance, writeRecord, type InstanceRecord } from "./instance.js";
import { currentNetns, inNetns, runInNetns } from "./netns.js";
import { findCniBinDir } from "./packages.js";
import { portmapChains } from "./portmap-rules.js";
import { messageOf, SetupProblem } from "./problem.js";
import { describeEnd, howItEnded } from "./process-end.js";
import { readProcess, signalAndWait } from "./processes.js";
import { chooseSubnet } from "./subnet.js";
import { waitFor } from "./wait.js";

const READY_TIMEOUT_MS = 60_000;
/** sockaddr_un holds 107 characters; containerd adds ".ttrpc" to the socket's path. */
const LONGEST_SOCKET_PATH = 107 - ".ttrpc".length;

export interface ContainerdOptions {
  /** Folder for everything; must not be in use. Made here, removed by stop(). */
  dir: string;
  /** Name of the network namespace to run in; without it, that of this process. */
  netns?: string;
  /** Path or name of the containerd program. */
  binary?: string;
  /** Folder with containerd, its shim, ctr and runc; by default those on the path. */
  programs?: string;
  sandboxImage?: string;
  /** Gets the path of the log after a start that failed, before everything is removed. */
  onFailure?: (log: string) => Promise<void>;
}

/** A containerd of our own. */
export interface PrivateContainerd {
  /** `unix:///…/containerd.sock` */
  readonly endpoint: string;
  readonly socket: string;
  readonly dir: string;
  /** As printed by `containerd --version`. */
  readonly version: string;
  /** Give this to the kubelet as --cgroup-root: stop() removes everything below it. */
  readonly cgroup: string;
  readonly bridge: string;
  readonly subnet: string;
  /** Where containerd writes its log. */
  readonly log: string;
  /** Pid of the running containerd; undefined while it is down. */
  readonly pid: number | undefined;
  /** How its last run ended, with the end of its log. */
  ending(): Promise<string>;
  /** SIGKILL to containerd alone: shims and containers live on. */
  kill9(): Promise<void>;
  /** Starts it again after kill9(), with the same folder; waits until it is ready. */
  start(): Promise<void>;
  /** SIGTERM, wait, start again. Containers live on. */
  restart(): Promise<void>;
  /** Ends containerd, shims and containers, and removes all they made. */
  stop(): Promise<void>;
}

/** Starts a private containerd and waits until it is ready for pods. Leftovers of an earlier one in `dir` go first. */
export async function startContainerd(options: ContainerdOptions): Promise<PrivateContainerd> {
  const stale = await readRecord(options.dir);
  if (stale !== undefined) await removeInstance(stale);
  const instance = await prepare(options);
  try {
    await instance.start();
  } catch (error) {
    const tail = await logTail(instance.log);
    await options.onFailure?.(instance.log);
    await instance.stop();
    throw new SetupProblem(`the private containerd did not become ready: ${messageOf(error)}${tail}`);
  }
  return instance;
}

async function prepare(options: ContainerdOptions): Promise<PrivateContainerd> {
  const { programs } = options;
  const binary =
    programs === undefined
      ? ((await findExecutable(options.binary ?? "containerd")) ?? options.binary)
      : join(programs, "containerd");
  const cniBinDir = await findCniBinDir();
  if (binary === undefined) throw new SetupProblem("no containerd on the path: install the Debian package containerd");
  if (cniBinDir === undefined)
    throw new SetupProblem("no CNI plugins: install the Debian package containernetworking-plugins");
  const version = await containerdVersion(binary);

  await rm(options.dir, { recursive: true, force: true });
  await mkdir(cniConfDir(options.dir), { recursive: true, mode: 0o711 });
  // The mount table shows resolved paths: work with them from the start.
  const dir = await realpath(options.dir);
  const socket = join(dir, "containerd.sock");
  if (socket.length > LONGEST_SOCKET_PATH) {
    throw new SetupProblem(`${dir} is too long a path for a socket: choose a shorter folder`);
  }
  const id = randomId();
  const record: InstanceRecord = {
    version: 1,
    dir,
    socket,
    ...(options.netns === undefined ? {} : { netns: options.netns }),
    ownNetns: await currentNetns(),
    network: `nodelet-${id}`,
    bridge: `nl-${id}`,
    subnet: await chooseSubnet(options.netns, parseInt(id, 16)),
    cgroup: `/nodelet-${id}`,
    ipForward: (await runInNetns(options.netns, "cat", ["/proc/sys/net/ipv4/ip_forward"])).trim(),
    portmapChains: await portmapChains(options.netns),
  };
  await writeRecord(record);
  const config = join(dir, "config.toml");
  await writeFile(
    config,
    containerdConfig({
      dir,
      socket,
      version,
      cniBinDir,
      sandboxImage: options.sandboxImage ?? PAUSE_IMAGE,
      snapshotter: (await canMountOverlay(dir)) ? "overlayfs" : "native",
      restrictOomScoreAdj: !(await hasSysResource()),
      disableAppArmor: !(await hasAppArmor()),
    }),
  );
  await writeFile(join(cniConfDir(dir), "10-nodelet.conflist"), cniConfig(record));
  // containerd looks for its shim and runc there.
  const path = [...(programs === undefined ? [] : [programs]), process.env["PATH"] ?? ""].join(delimiter);
  return new Instance(record, { binary, config, path }, version.text);
}

class Instance implements PrivateContainerd {
  readonly endpoint: string;
  readonly socket: string;
  readonly dir: string;
  readonly cgroup: string;
  readonly bridge: string;
  readonly subnet: string;
  readonly log: string;
  private child: ChildProcess | undefined;

  constructor(
    private readonly record: InstanceRecord,
    private readonly program: { binary: string; config: string; path: string },
    readonly version: string,
  ) {
    this.dir = record.dir;
    this.socket = record.socket;
    this.endpoint = `unix://${record.socket}`;
    this.cgroup = record.cgroup;
    this.bridge = record.bridge;
    this.subnet = record.subnet;
    this.log = join(record.dir, "containerd.log");
  }

  get pid(): number | undefined {
    return this.child !== undefined && isRunning(this.child) ? this.child.pid : undefined;
  }

  ending(): Promise<string> {
    return describeEnd("the private containerd", { child: this.child, log: this.log });
  }

  async start(): Promise<void> {
    if (this.pid !== undefined) return;
    const log = await open(this.log, "a");
    const { binary, config, path } = this.program;
    const { command, args } = inNetns(this.record.netns, binary, ["--config", config]);
    // A session of its own: Ctrl-C on the terminal reaches us, and we decide what ends when.
    const env = { ...process.env, PATH: path };
    const child = spawn(command, args, { detached: true, stdio: ["ignore", log.fd, log.fd], env });
    this.child = child;
    await Promise.race([once(child, "spawn"), once(child, "error").then(([error]) => Promise.reject(error as Error))]);
    await log.close();
    const identity = child.pid === undefined ? undefined : await readProcess(child.pid);
    if (identity !== undefined) {
      this.record.containerd = { pid: identity.pid, startTicks: identity.startTicks };
      await writeRecord(this.record);
    }
    await this.becomeReady(child);
  }

  async kill9(): Promise<void> {
    await this.signal("SIGKILL");
  }

  async restart(): Promise<void> {
    await this.signal("SIGTERM");
    await this.start();
  }

  async stop(): Promise<void> {
    await removeInstance(this.record);
    await this.ended();
    this.child = undefined;
  }

  private async signal(signal: NodeJS.Signals): Promise<void> {
    const identity = this.record.containerd;
    if (identity === undefined) return;
    const left = await signalAndWait([identity], signal, 15_000);
    if (left.length > 0) throw new Error(`containerd (pid ${identity.pid}) lives on after ${signal}`);
    await this.ended();
  }

  /** The kernel sees the exit of a child before Node does. `pid` is right only after this. */
  private async ended(): Promise<void> {
    const { child } = this;
    if (child?.pid === undefined) return;
    await waitFor(() => !isRunning(child), { what: "Node to notice that containerd ended", intervalMs: 5 });
  }

  private async becomeReady(child: ChildProcess): Promise<void> {
    const cri = connectCri(this.endpoint);
    try {
      await waitFor(
        async () => {
          if (!isRunning(child)) return "ended";
          const problem = await runtimeProblem(cri);
          if (problem !== undefined) throw new Error(problem);
          return "ready";
        },
        { what: `containerd on ${this.socket} to be ready`, timeoutMs: READY_TIMEOUT_MS, intervalMs: 50 },
      );
    } finally {
      cri.close();
    }
    if (!isRunning(child)) throw new Error(`containerd ended with ${howItEnded(child)}`);
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Eight hex digits: with "nl-" before them they fit a network interface's name. */
function randomId(): string {
  return crypto.randomUUID().slice(0, 8);
}

/** The last error lines of a log, for messages. */
async function logTail(path: string): Promise<string> {
  const lines = (await readFile(path, "utf8").catch(() => "")).trim().split("\n");
  const telling = lines.filter((line) => /level=(error|fatal)|^containerd: /.test(line)).slice(-2);
  return telling.length === 0 ? "" : `\n${telling.join("\n")}`;
}
