// The test's side of guest/agent.sh: commands over a virtio port that QEMU shows as a socket.
// Invariant: every command returns or fails; when the line is cut, all waiting commands fail.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { PATIENCE } from "../../tools/standalone/wait.js";

export interface CommandResult {
  status: number;
  stdout: string;
  stderr: string;
}

interface Waiting {
  resolve: (result: CommandResult) => void;
  reject: (error: Error) => void;
}

/** The guest takes this long at most to say that a command ran out of time. */
const GRACE_MS = 15_000;

export class Channel {
  private readonly waiting = new Map<number, Waiting>();
  private readonly becameReady: Promise<void>;
  private nextId = 1;

  private constructor(private readonly socket: Socket) {
    let ready: () => void = () => undefined;
    this.becameReady = new Promise((resolve) => (ready = resolve));
    createInterface({ input: socket }).on("line", (line) => {
      if (line === "ready") ready();
      else this.take(line);
    });
    socket.on("error", (error) => this.cut(error));
    socket.on("close", () => this.cut(new Error("the machine closed the line")));
  }

  static async open(path: string): Promise<Channel> {
    const socket = connect(path);
    await once(socket, "connect");
    return new Channel(socket);
  }

  /** Resolves when the guest's agent has started; never rejects. */
  ready(): Promise<void> {
    return this.becameReady;
  }

  /** Runs a shell script in the guest, where it is ended after `limitMs` (times PATIENCE) with status 124. */
  run(script: string, limitMs: number): Promise<CommandResult> {
    const timeoutMs = limitMs * PATIENCE;
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => this.end(id, (one) => one.reject(new Error(`no response to: ${script}`))),
        timeoutMs + GRACE_MS,
      );
      this.waiting.set(id, {
        resolve: (result) => {
          clearTimeout(timer);
          resolve(result);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      if (this.socket.destroyed) this.cut(new Error("the machine is gone"));
      else this.socket.write(`${id} ${Math.ceil(timeoutMs / 1000)} ${Buffer.from(script).toString("base64")}\n`);
    });
  }

  close(): void {
    this.socket.destroy();
    this.cut(new Error("the line was closed"));
  }

  private take(line: string): void {
    const [id, status, stdout, stderr] = line.split(" ");
    const text = (field: string | undefined): string => Buffer.from((field ?? "-").slice(1), "base64").toString();
    this.end(Number(id), ({ resolve }) =>
      resolve({ status: Number(status), stdout: text(stdout), stderr: text(stderr) }),
    );
  }

  private end(id: number, how: (waiting: Waiting) => void): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (waiting !== undefined) how(waiting);
  }

  private cut(error: Error): void {
    for (const id of [...this.waiting.keys()]) this.end(id, ({ reject }) => reject(error));
  }
}
