// The calls of iscsiadm: interfaces, discovery, sessions. Invariant: CHAP secrets are in no message and no log line.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { ProgramFailedError } from "../../../shared/io/exec/program-errors.js";
import { runProgram } from "../../../shared/io/exec/run-program.js";
import { DiskAttachError } from "../disks/disk.js";

const DEADLINE_MS = 120_000;
/** Exit status: such a session exists already. */
const SESSION_EXISTS = 15;
/** Exit status: no such session, record or interface. */
const NOT_FOUND = 21;

const DISCOVERY = "discovery.sendtargets.auth.";
const SESSION = "node.session.auth.";
const CHAP_KEYS = ["username", "password", "username_in", "password_in"];

export interface Chap {
  discovery: boolean;
  session: boolean;
  /** Keys as open-iscsi has them: "node.session.auth.username". */
  secret: Readonly<Record<string, string>>;
}

export interface Session {
  portal: string;
  iqn: string;
  iface: string;
}

export class Iscsiadm {
  constructor(
    private readonly clock: Pick<Clock, "after">,
    private readonly program = "iscsiadm",
  ) {}

  /** Parameters of the interface by name; those without a value are left out. @throws DiskAttachError */
  async showIface(iface: string, signal: AbortSignal): Promise<Map<string, string>> {
    const text = await this.run(`read interface ${iface}`, ["-m", "iface", "-I", iface, "-o", "show"], signal);
    return readIface(text);
  }

  /** A copy of the interface with another initiator name; idempotent. */
  async cloneIface(from: string, to: string, initiatorName: string, signal: AbortSignal): Promise<void> {
    const parameters = await this.showIface(from, signal);
    parameters.set("iface.initiatorname", initiatorName);
    parameters.delete("iface.iscsi_ifacename");
    const known = await this.isIface(to, signal);
    if (!known) await this.run(`create interface ${to}`, ["-m", "iface", "-I", to, "-o", "new"], signal);
    try {
      for (const [name, value] of parameters) {
        const args = ["-m", "iface", "-I", to, "-o", "update", "-n", name, "-v", value];
        await this.run(`set ${name} of interface ${to}`, args, signal);
      }
    } catch (error) {
      if (!known) await this.deleteIface(to);
      throw error;
    }
  }

  async deleteIface(iface: string): Promise<void> {
    await this.tolerant(`delete interface ${iface}`, ["-m", "iface", "-I", iface, "-o", "delete"], [NOT_FOUND]);
  }

  /**
   * Discovers the target through the portal and logs in; idempotent.
   * @throws DiskAttachError, or the signal's reason
   */
  async login({ portal, iqn, iface }: Session, chap: Chap, signal: AbortSignal): Promise<void> {
    const discovery = ["-m", "discoverydb", "-t", "sendtargets", "-p", portal, "-I", iface];
    const node = ["-m", "node", "-p", portal, "-T", iqn, "-I", iface];
    await this.tolerant(`add portal ${portal}`, [...discovery, "-o", "new"], undefined, signal);
    if (chap.discovery) await this.setChap(`discovery at ${portal}`, discovery, DISCOVERY, chap, signal);
    try {
      await this.run(`discover targets at portal ${portal}`, [...discovery, "--discover"], signal);
    } catch (error) {
      await this.tolerant(`forget portal ${portal}`, [...discovery, "-o", "delete"], undefined);
      throw error;
    }
    if (chap.session) await this.setChap(`sessions with ${iqn}`, node, SESSION, chap, signal);
    try {
      await this.run(`log in to ${iqn} at portal ${portal}`, [...node, "--login"], signal, [SESSION_EXISTS]);
    } catch (error) {
      await this.tolerant(`forget ${iqn}`, [...node, "-o", "delete"], undefined);
      throw error;
    }
    // At the next start of the machine nothing may hang on this login.
    const manual = ["-o", "update", "-n", "node.startup", "-v", "manual"];
    await this.tolerant(`set node.startup of ${iqn}`, [...node, ...manual], undefined, signal);
  }

  /** Ends the session and forgets the target; idempotent. @throws DiskAttachError */
  async logout({ portal, iqn, iface }: Session): Promise<void> {
    const node = ["-m", "node", "-p", portal, "-T", iqn, "-I", iface];
    await this.tolerant(`log out of ${iqn} at portal ${portal}`, [...node, "--logout"], [NOT_FOUND]);
    await this.tolerant(`forget ${iqn}`, [...node, "-o", "delete"], [NOT_FOUND]);
  }

  private async setChap(
    what: string,
    words: readonly string[],
    prefix: string,
    { secret }: Chap,
    signal: AbortSignal,
  ): Promise<void> {
    const set = (name: string, value: string): Promise<string> =>
      this.run(`set ${name} for ${what}`, [...words, "-o", "update", "-n", name, "-v", value], signal);
    await set(`${prefix}authmethod`, "CHAP");
    for (const key of CHAP_KEYS) {
      const value = secret[`${prefix}${key}`];
      if (value !== undefined && value !== "") await set(`${prefix}${key}`, value);
    }
  }

  private async isIface(iface: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.showIface(iface, signal);
      return true;
    } catch (error) {
      if (error instanceof DiskAttachError) return false;
      throw error;
    }
  }

  /** `fine`: exit statuses that are as good as success; undefined: all are. */
  private async tolerant(
    what: string,
    args: readonly string[],
    fine: readonly number[] | undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    try {
      await this.run(what, args, signal, fine);
    } catch (error) {
      if (fine !== undefined || !(error instanceof DiskAttachError)) throw error;
    }
  }

  /** @throws DiskAttachError, or the signal's reason */
  private async run(
    what: string,
    args: readonly string[],
    signal?: AbortSignal,
    fine: readonly number[] = [],
  ): Promise<string> {
    const { clock, program } = this;
    try {
      return await runProgram({
        command: program,
        args,
        env: [],
        clock,
        deadlineMs: DEADLINE_MS,
        signal,
      });
    } catch (error) {
      if (!(error instanceof ProgramFailedError)) throw error;
      if (error.exitCode !== undefined && fine.includes(error.exitCode)) return error.stdout;
      const advice = error.failure === "missing" ? ": install open-iscsi on this node" : "";
      throw new DiskAttachError(`cannot ${what}: iscsiadm ${error.message}${advice}`, { cause: error });
    }
  }
}

/** Parses lines like "iface.transport_name = tcp". @internal */
export function readIface(text: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const line of text.split("\n")) {
    if (!line.startsWith("iface.")) continue;
    const at = line.indexOf(" = ");
    const value = line.slice(at + 3).trim();
    if (at > 0 && value !== "" && value !== "<empty>") parameters.set(line.slice(0, at), value);
  }
  return parameters;
}
