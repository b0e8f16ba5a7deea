// A Docker Engine that answers as a test says: well-formed, wrong, too long, in the middle of nothing, or never.

import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { Shim } from "../../src/workers/dockershim/shim.js";
import { keptLog } from "./sources-kit.js";

export const ID = "a".repeat(64);

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A running container of Kubernetes, as `docker inspect` shows it. */
export const CONTAINER = {
  Id: ID,
  Name: "/k8s_app_web_default_1_0",
  Created: "2026-01-02T03:04:05.000000006Z",
  Image: "sha256:00",
  State: {
    ...{ Status: "running", Running: true, OOMKilled: false, Pid: 1, ExitCode: 0, Error: "" },
    ...{ StartedAt: "2026-01-02T03:04:06Z", FinishedAt: "0001-01-01T00:00:00Z" },
  },
  ResolvConfPath: "",
  Config: { Image: "app", Labels: { "io.kubernetes.docker.type": "container" }, Tty: false },
  HostConfig: {},
  Mounts: [],
  NetworkSettings: { Networks: {} },
};

export function json(value: unknown, status = 200): Answer {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
}

export const never: Answer = () => undefined;

/** Bytes without an end, as fast as the reader takes them. */
export function endless(status = 200): Answer {
  return (_request, response) => {
    const chunk = Buffer.alloc(1 << 20, "x");
    response.writeHead(status, { "content-type": "application/json" });
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", more);
    more();
  };
}

/** Announces more than it sends, then ends the connection. */
export const cut: Answer = (_request, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
  response.write("[{");
  setImmediate(() => response.destroy());
};

export class FakeEngine implements AsyncDisposable {
  readonly requests: string[] = [];
  private readonly answers = new Map<string, Answer>([
    ["/version", json({ ApiVersion: "1.41", MinAPIVersion: "1.12" })],
  ]);
  private readonly server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/^\/v1\.\d+/, "").split("?", 1)[0] ?? "";
    this.requests.push(`${request.method ?? ""} ${path}`);
    (this.answers.get(path) ?? json({ message: `no answer for ${path}` }, 404))(request, response);
  });

  private constructor(
    private readonly dir: string,
    readonly shim: Shim,
  ) {}

  /** For another process. */
  get socket(): string {
    return join(this.dir, "docker.sock");
  }

  static async start(limits: { requestMs?: number; progressMs?: number } = {}): Promise<FakeEngine> {
    const dir = await mkdtemp(join(tmpdir(), "nodelet-engine-"));
    const socket = join(dir, "docker.sock");
    const shim = new Shim(
      {
        socketPath: join(dir, "cri.sock"),
        dockerEndpoint: `unix://${socket}`,
        rootDir: dir,
        podInfraContainerImage: "pause",
        imagePullProgressDeadlineMs: limits.progressMs ?? 60_000,
        requestTimeoutMs: limits.requestMs ?? 60_000,
        network: { plugin: "none" },
      },
      systemClock,
      keptLog().log,
    );
    const engine = new FakeEngine(dir, shim);
    await new Promise<void>((resolve) => engine.server.listen(socket, resolve));
    return engine;
  }

  /** From now on. The path is without the version of the API. */
  answer(path: string, answer: Answer): void {
    this.answers.set(path, answer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shim.stop();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    await rm(this.dir, { recursive: true });
  }
}
