// Debian's kubectl with an administrator's kubeconfig. Its home and cache are a folder of its own.
// Invariant: dispose() ends every command that runs.

import assert from "node:assert/strict";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATIENCE, waitFor } from "../../tools/standalone/wait.js";

const DEADLINE_MS = 120_000;
/** Characters of output in the message of a wait that failed. */
const SHOWN = 4000;

export interface Ran {
  /** -1: a signal ended it. */
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  input?: string | Buffer;
  env?: Readonly<Record<string, string>>;
}

/** The folder of Debian's kubectl, Prometheus and promtool. */
export function clientPrograms(): string {
  const folder = process.env["NODELET_TEST_CLIENTS"];
  if (folder === undefined)
    throw new Error("NODELET_TEST_CLIENTS is not set: this test needs the environment of `npm test`");
  return folder;
}

/** A command that runs. */
export class Running {
  #stdout: Buffer[] = [];
  #stderr = "";
  readonly #ended: Promise<number>;

  constructor(
    readonly what: string,
    readonly child: ChildProcessWithoutNullStreams,
  ) {
    child.stdout.on("data", (part: Buffer) => this.#stdout.push(part));
    child.stderr.on("data", (part: Buffer) => (this.#stderr += part.toString()));
    // A command that ends before it reads its input.
    child.stdin.on("error", () => undefined);
    this.#ended = new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve(code ?? -1));
    });
  }

  get stdout(): string {
    return this.bytes.toString();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#stdout);
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Waits until the output so far satisfies `holds`. */
  async until(holds: (stdout: string, stderr: string) => boolean): Promise<void> {
    await waitFor(() => holds(this.stdout, this.#stderr), {
      timeoutMs: DEADLINE_MS,
      what: `the output of ${this.what}`,
      lastSeen: () => `${this.stdout}${this.#stderr}`.slice(-SHOWN),
    });
  }

  async ended(): Promise<Ran> {
    const late = setTimeout(() => this.child.kill("SIGKILL"), DEADLINE_MS * PATIENCE);
    try {
      const code = await this.#ended;
      return { code, stdout: this.stdout, stderr: this.#stderr };
    } finally {
      clearTimeout(late);
    }
  }

  async interrupt(): Promise<Ran> {
    this.child.kill("SIGINT");
    return this.ended();
  }
}

export class Kubectl implements AsyncDisposable {
  readonly #running = new Set<Running>();

  private constructor(readonly dir: string) {}

  /** @param kubeconfig its text */
  static async start(kubeconfig: string): Promise<Kubectl> {
    const dir = await mkdtemp(join(tmpdir(), "kubectl-"));
    await writeFile(join(dir, "config"), kubeconfig, { mode: 0o600 });
    return new Kubectl(dir);
  }

  get env(): Readonly<Record<string, string>> {
    return { KUBECONFIG: join(this.dir, "config"), HOME: this.dir, KUBECACHEDIR: join(this.dir, "cache") };
  }

  /** Starts a command; its input stays open. */
  spawn(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    return this.#start(join(clientPrograms(), "kubectl"), args, env);
  }

  /** Starts a command on a terminal of its own. */
  onTerminal(args: readonly string[]): Running {
    const quoted = [join(clientPrograms(), "kubectl"), ...args].map((word) => `'${word}'`).join(" ");
    return this.#start("script", ["--quiet", "--return", "--command", quoted, "/dev/null"], {});
  }

  #start(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Running {
    const child = spawn(program, args, { cwd: this.dir, env: { ...process.env, ...this.env, ...env } });
    const running = new Running(`kubectl ${args.join(" ")}`, child);
    this.#running.add(running);
    child.once("close", () => this.#running.delete(running));
    return running;
  }

  async run(args: readonly string[], { input = "", env = {} }: RunOptions = {}): Promise<Ran> {
    const running = this.spawn(args, env);
    running.child.stdin.end(input);
    return running.ended();
  }

  /** The output of a command that must succeed. */
  async ok(...args: readonly string[]): Promise<string> {
    return this.okWith({}, ...args);
  }

  async okWith(options: RunOptions, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, options);
    assert.equal(code, 0, `kubectl ${args.join(" ")}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Applies an object. */
  apply(object: unknown): Promise<string> {
    return this.okWith({ input: JSON.stringify(object) }, "apply", "-f", "-");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const running of [...this.#running]) {
      running.child.kill("SIGKILL");
      await running.ended();
    }
    await rm(this.dir, { recursive: true, force: true });
  }
}
