// A running test machine: QEMU without acceleration, its disk an overlay that is thrown away, commands through
// guest/agent.sh. Invariant: QEMU ends with the test, however that ends, and is ended by its own pid.

import { spawn, type ChildProcess } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { waitFor } from "../../tools/standalone/wait.js";
import { Channel, type CommandResult } from "./channel.js";
import type { VmImage } from "./image.js";

const BOOT_TIMEOUT_MS = 150_000;
const COMMAND_TIMEOUT_MS = 60_000;
const CONSOLE_LINES = 25;
/** Escape sequences of a terminal (cursor, colour), and the bytes of systemd's ellipsis. */
const ESCAPES = /\u001b(\[[0-9;?]*[A-Za-z]|c|M)|[^\x09-\x7e]/g;

/** A guest's deadlines pass in real time, and tests beside it mostly wait for conditions. Their kubelets have -5. */
const SESSION_NICENESS = -10;

/** `kvm` where it works makes the suite several times faster. */
const ACCELERATOR = process.env["NODELET_VM_ACCEL"] ?? "tcg,thread=multi";

/**
 * The oldest one that has what Debian, Node.js and containerd ask for. With "max", QEMU emulates vectors of 512 bits
 * and page tables of five levels: a boot takes half as much processor time again.
 */
const PROCESSOR = "Nehalem";
/**
 * Kernel arguments for an emulated processor: direct instead of indirect jumps; programs at the same addresses, whose
 * translated code QEMU uses again (a booted machine has half as many translated blocks); and no test of the timer,
 * which panics when the processors are busy.
 */
const EMULATED = ["mitigations=off", "norandmaps", "no_timer_check"];

class GuestCommandFailed extends Error {
  override readonly name = "GuestCommandFailed";
  constructor(script: string, { status, stdout, stderr }: CommandResult, context: string) {
    const why = status === 124 || status === 137 ? "ran out of time" : `ended with status ${status}`;
    super(`in the machine, ${why}: ${script.trim()}\n${stdout.slice(-2000)}${stderr.slice(-2000)}${context}`);
  }
}

export interface MachineOptions {
  image: VmImage;
  /** Seen as /dev/vdb. */
  payload: string;
  /** The guest's /dev/vdc; data written to it outlives the machine. */
  kept: string;
  /** A folder of this machine's own, for socket and console. */
  dir: string;
}

export class Machine {
  private constructor(
    private readonly qemu: ChildProcess,
    private readonly channel: Channel,
    private readonly consoleFile: string,
  ) {}

  /** Boots and waits for the kubelet. Throws with the end of the console when it does not come. */
  static async boot({ image, payload, kept, dir }: MachineOptions): Promise<Machine> {
    const socket = join(dir, "agent.sock");
    const consoleFile = join(dir, "console.log");
    const args = qemuArguments({ image, payload, kept, dir }, socket, consoleFile);
    const errors: Buffer[] = [];
    const qemu = spawn("setpriv", ["--pdeathsig", "KILL", "--", "qemu-system-x86_64", ...args], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, TMPDIR: dir },
      // In a session of its own it has a share of the processors of its own, too (sched(7), autogroup).
      detached: true,
    });
    qemu.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    qemu.on("error", (error) => errors.push(Buffer.from(error.message)));
    await preferSession(qemu.pid);
    const died = (): boolean => !isAlive(qemu);
    const words = (): string => Buffer.concat(errors).toString().trim();
    let channel: Channel | undefined;
    try {
      const opened = await waitFor<"dead" | Channel>(() => (died() ? "dead" : Channel.open(socket)), {
        what: "QEMU to open its socket",
      });
      if (opened === "dead") throw new Error(`QEMU ended: ${words()}`);
      channel = opened;
      const machine = new Machine(qemu, channel, consoleFile);
      let ready = false;
      void channel.ready().then(() => (ready = true));
      await waitFor(() => died() || ready, {
        what: "the machine to boot",
        timeoutMs: BOOT_TIMEOUT_MS,
        intervalMs: 100,
        lastSeen: () => machine.console(),
      });
      if (died()) throw new Error(`QEMU ended while the machine booted: ${words()}${await machine.console()}`);
      return machine;
    } catch (error) {
      channel?.close();
      qemu.kill("SIGKILL");
      throw error;
    }
  }

  run(script: string, timeoutMs = COMMAND_TIMEOUT_MS): Promise<CommandResult> {
    return this.channel.run(script, timeoutMs);
  }

  /** Standard output of the script. Throws {@link GuestCommandFailed} for a status other than 0. */
  async ok(script: string, timeoutMs = COMMAND_TIMEOUT_MS): Promise<string> {
    const result = await this.run(script, timeoutMs);
    if (result.status !== 0) throw new GuestCommandFailed(script, result, await this.story());
    return result.stdout;
  }

  /** Repeats the script in the guest until it succeeds; returns what it wrote then. */
  async until(script: string, { what, timeoutMs = COMMAND_TIMEOUT_MS }: { what: string; timeoutMs?: number }) {
    const file = "/run/nodelet-vm/condition";
    const loop = `cat >${file} <<'NODELET_END'\n${script}\nNODELET_END\nwhile ! sh ${file} >${file}.out 2>&1; do sleep 1; done\ncat ${file}.out`;
    const result = await this.run(loop, timeoutMs);
    if (result.status === 0) return result.stdout;
    const seen = await this.run(`cat ${file}.out`);
    throw new Error(
      `waited ${timeoutMs / 1000} s for ${what}; last seen: ${seen.stdout.slice(-1500)}${await this.story()}`,
    );
  }

  /** The end of the console, without colours and without the lines that count seconds. */
  async console(): Promise<string> {
    const text = await readFile(this.consoleFile, "latin1").catch(() => "");
    const lines = text.replace(ESCAPES, "").split(/[\r\n]+/);
    const relevant = lines.map((line) => line.trim()).filter((line) => line !== "" && !/ running \(\d+s/.test(line));
    return `\n--- console\n${relevant.slice(-CONSOLE_LINES).join("\n")}`;
  }

  /** Latest messages, for failure reports: the kubelet's unit and the console. */
  async story(): Promise<string> {
    const ask = "systemctl status kubelet --no-pager -n 0; journalctl --unit kubelet --no-pager --lines 25";
    const journal = await this.run(`{ ${ask}; } 2>&1`, 20_000).catch(() => undefined);
    return `\n--- kubelet\n${journal?.stdout ?? "no answer"}${await this.console()}`;
  }

  /** Waits until the machine has gone down by itself. */
  async down(timeoutMs: number): Promise<void> {
    await waitFor(() => !isAlive(this.qemu), {
      what: "the machine to go down",
      timeoutMs,
      lastSeen: () => this.console(),
    });
  }

  async stop(): Promise<void> {
    this.channel.close();
    this.qemu.kill("SIGKILL");
    await waitFor(() => !isAlive(this.qemu), { what: `QEMU (pid ${this.qemu.pid ?? 0}) to end` });
  }
}

/** Gives a session more processor time than others; a machine without autogroups goes on without. */
async function preferSession(pid: number | undefined): Promise<void> {
  await writeFile(`/proc/${pid ?? 0}/autogroup`, String(SESSION_NICENESS)).catch(() => undefined);
}

function isAlive(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

function qemuArguments({ image, payload, kept }: MachineOptions, socket: string, consoleFile: string): string[] {
  const kernelArguments = ["root=/dev/vda", "rw", "console=ttyS0", "loglevel=4", "panic=5", ...EMULATED];
  return [
    ...["-accel", ACCELERATOR, "-cpu", PROCESSOR, "-smp", "2", "-m", "2048"],
    ...["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-monitor", "none"],
    ...["-kernel", image.kernel, "-initrd", image.initrd, "-append", kernelArguments.join(" ")],
    ...["-drive", `file=${image.disk},if=virtio,format=raw,snapshot=on`],
    ...["-drive", `file=${payload},if=virtio,format=raw,snapshot=on`],
    ...["-drive", `file=${kept},if=virtio,format=raw`],
    ...["-serial", `file:${consoleFile}`],
    ...["-device", "virtio-serial-pci", "-chardev", `socket,id=agent,path=${socket},server=on,wait=off`],
    ...["-device", "virtserialport,chardev=agent,name=nodelet.agent"],
  ];
}
