// The kubelet as a CRI server over a Docker Engine and nothing else (--experimental-dockershim), in a process of its
// own.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { RuntimeServiceService } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { waitFor } from "../../tools/standalone/wait.js";

const KUBELET = fileURLToPath(new URL("../../agent/main/kubelet.js", import.meta.url));
const CALL_MS = 60_000;

/** A unary call of CRI. */
interface Method<Request, Response> {
  readonly path: string;
  requestSerialize(request: Request): Buffer;
  responseDeserialize(bytes: Buffer): Response;
}

export class DockershimProcess implements AsyncDisposable {
  log = "";

  private constructor(
    readonly socket: string,
    private readonly child: ChildProcess,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => (this.log += text));
    }
  }

  /** Resolves when it serves. @param dir has its socket and its state */
  static async start(dir: string, engine: string): Promise<DockershimProcess> {
    const socket = `${dir}/shim.sock`;
    const flags = [
      "--experimental-dockershim",
      `--docker-endpoint=unix://${engine}`,
      `--container-runtime-endpoint=unix://${socket}`,
      ...[`--root-dir=${dir}/root`, "--fail-swap-on=false"],
    ];
    const child = spawn(process.execPath, [KUBELET, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
    const shim = new DockershimProcess(socket, child);
    try {
      const serves = (): Promise<boolean> => shim.version().then(() => true);
      await waitFor(serves, {
        what: "the dockershim to serve",
        timeoutMs: CALL_MS,
        lastSeen: () => shim.log.slice(-2000),
      });
    } catch (error) {
      await shim[Symbol.asyncDispose]();
      throw error;
    }
    return shim;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** How often the thread that serves was started again. */
  get restarts(): number {
    return this.log.split("thread exited").length - 1;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  version(): Promise<{ runtimeName: string }> {
    return this.call(RuntimeServiceService.version, { version: "v1" });
  }

  /** By a connection of its own. Rejects with the server's error. */
  call<Request, Response>(method: Method<Request, Response>, request: Request, raw?: Buffer): Promise<Response> {
    const client = new Client(`unix://${this.socket}`, credentials.createInsecure(), {
      ...{ "grpc.use_local_subchannel_pool": 1, "grpc.default_authority": "localhost" },
      "grpc.max_receive_message_length": -1,
    });
    return new Promise<Response>((resolve, reject) => {
      client.makeUnaryRequest<Request, Response>(
        method.path,
        (value) => raw ?? method.requestSerialize(value),
        (bytes) => method.responseDeserialize(bytes),
        request,
        new Metadata(),
        { deadline: Date.now() + CALL_MS },
        (error, response) =>
          error === null && response !== undefined ? resolve(response) : reject(error ?? new Error("no response")),
      );
    }).finally(() => client.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.hasEnded) return;
    const ended = once(this.child, "exit");
    this.child.kill("SIGTERM");
    const late = setTimeout(() => this.child.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(late);
  }
}
