// The API server of a node without a cluster in this thread, with real certificates and files, and a socket in place of
// the kubelet's, which records what it is asked.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { makeCredentials, updateReaders, type CredentialsDeps } from "../../../src/main/node/api-server/credentials.js";
import { apiServerFiles, type ApiServerFiles } from "../../../src/main/node/api-server/paths.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import type { ApiServerInit, ApiServerUpcalls } from "../../../src/shared/contracts/apiserver.js";
import type { Logger } from "../../../src/shared/telemetry/log/logger.js";
import type { WorkerContext } from "../../../src/shared/thread/worker-life.js";
import { startApiServer } from "../../../src/workers/apiserver/start.js";
import { describeCertificate, issueCertificates } from "../../../src/workers/tasks/certificates/certificate-jobs.js";
import { freePort } from "../../support/free-port.js";

export interface Reply {
  status: number;
  text: string;
}

interface Pair {
  cert: string;
  key: string;
}

const quiet = (): void => undefined;

export class ApiPort implements AsyncDisposable {
  /** Method and target of each request to the kubelet. */
  asked: string[] = [];
  /** Paths and texts of the log's warnings. */
  warnings: string[] = [];
  /** The kubelet's answer to a request. */
  answer: (response: ServerResponse) => void = (response) => response.end("from the kubelet\n");
  private stop: () => Promise<void> = () => Promise.resolve();

  private constructor(
    private readonly dir: string,
    readonly port: number,
    readonly files: ApiServerFiles,
    private readonly kubelet: Server,
    readonly ca: string,
  ) {}

  static async open(): Promise<ApiPort> {
    const dir = await mkdtemp(join(tmpdir(), "api-port-"));
    const files = apiServerFiles(dir);
    const port = await freePort();
    const warnings: string[] = [];
    const warn = (fields: { path?: string }, text: string): number => warnings.push(`${fields.path ?? ""}: ${text}`);
    const log = { info: quiet, debug: quiet, warn, error: quiet } as unknown as Logger;
    const deps: CredentialsDeps = {
      ...{ files, nodeName: "node-1", address: "127.0.0.1", port, clock: systemClock, log },
      withTasks: (work) =>
        work({ describe: (pem) => Promise.resolve(describeCertificate({ pem })), issue: issueCertificates }),
    };
    await makeCredentials(deps);
    await writeFile(files.readers, "reader\n");
    await makeCredentials(deps);
    const upcalls: ApiServerUpcalls = { readersChanged: (names) => updateReaders(deps, names) };
    const asked: string[] = [];
    const kubelet = createServer((request, response) => {
      asked.push(`${request.method ?? ""} ${request.url ?? ""}`);
      request.resume();
      opened.answer(response);
    });
    kubelet.on("upgrade", (request, socket) => {
      asked.push(`UPGRADE ${request.url ?? ""}`);
      socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    });
    const adminSocket = join(dir, "kubelet.sock");
    await new Promise<void>((resolve) => kubelet.listen(adminSocket, resolve));
    const opened = new ApiPort(dir, port, files, kubelet, await readFile(files.caCert, "utf8"));
    opened.asked = asked;
    opened.warnings = warnings;
    const init: ApiServerInit = {
      ...{ address: "127.0.0.1", port, nodeName: "node-1", adminSocket },
      tls: { certFile: files.servingCert, keyFile: files.servingKey, minVersion: "TLSv1.2", ciphers: [], curves: [] },
      ...{ clientCAFile: files.caCert, readersFile: files.readers, directory: files.store, volumesDir: files.volumes },
    };
    const running = await startApiServer({
      ...{ init, log, clock: systemClock, upcallsWithin: () => upcalls },
    } as unknown as WorkerContext<ApiServerInit, ApiServerUpcalls>);
    opened.stop = () => running.drain();
    await running.control.listening();
    return opened;
  }

  /** Certificate and key of a client of this server. */
  async client(name: string): Promise<Pair> {
    const text = await readFile(join(this.files.directory, `${name}.kubeconfig`), "utf8");
    const { users } = JSON.parse(text) as { users: { user: Record<string, string> }[] };
    const read = (field: string): string => Buffer.from(users[0]?.user[field] ?? "", "base64").toString();
    return { cert: read("client-certificate-data"), key: read("client-key-data") };
  }

  /** A connection; without a pair the client has no certificate. */
  connect(pair?: Pair): TLSSocket {
    return connectTls({ host: "127.0.0.1", port: this.port, ca: this.ca, ...pair });
  }

  /** @returns all that the server sends to these bytes until it closes the connection */
  raw(bytes: string, pair?: Pair): Promise<string> {
    const socket = this.connect(pair);
    socket.write(Buffer.from(bytes, "latin1"));
    return new Promise((resolve) => {
      let text = "";
      socket.on("data", (part: Buffer) => (text += part.toString("latin1")));
      socket.on("error", quiet).once("close", () => resolve(text));
    });
  }

  async ask(
    pair: Pair,
    method: string,
    path: string,
    body?: unknown,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    const isText = typeof body === "string" || body instanceof Uint8Array;
    const text = body === undefined ? "" : isText ? body : JSON.stringify(body);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text), ...more };
    const options = { ...{ host: "127.0.0.1", port: this.port, ca: this.ca, agent: false }, ...pair };
    return await new Promise((resolve, reject) => {
      const sent = httpsRequest({ ...options, method, path, headers }, (response) => {
        let answer = "";
        response.setEncoding("utf8").on("data", (part: string) => (answer += part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: answer }));
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(text);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await new Promise((resolve) => this.kubelet.close(resolve));
    await rm(this.dir, { recursive: true, force: true });
  }
}
