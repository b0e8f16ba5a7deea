// Requests to the kubelet on its admin socket. A request without an answer ends after its deadline; answers are
// bounded.

import { request, type IncomingMessage } from "node:http";
import { errorCode } from "../shared/base/errors/error-code.js";
import { CliError, EXIT } from "./errors.js";
import { refusalText } from "./refusal-text.js";

const DEADLINE_MS = 15_000;
/** The kubelet's own limit for a manifest of 10 MiB on a busy machine, and some. */
const WRITE_DEADLINE_MS = 130_000;
/** A node of 1,000 pods answers /pods with about 10 MiB. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

export class AnswerError extends CliError {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(EXIT.wrong, message);
  }
}

export interface SendOptions {
  headers?: Record<string, string>;
  body?: string;
}

interface Ask extends SendOptions {
  method?: string;
  path: string;
  /** undefined: the response may come at any time. */
  deadlineMs: number | undefined;
}

export interface Sent {
  /** It did not exist before. */
  created: boolean;
}

export class Client {
  constructor(readonly socket: string) {}

  async json<T>(path: string, deadlineMs?: number): Promise<T> {
    return JSON.parse(await this.text(path, deadlineMs)) as T;
  }

  /** undefined: the kubelet does not know the object. */
  async find<T>(path: string): Promise<T | undefined> {
    try {
      return await this.json<T>(path);
    } catch (error) {
      if (error instanceof AnswerError && error.status === 404) return undefined;
      throw error;
    }
  }

  async text(path: string, deadlineMs = DEADLINE_MS): Promise<string> {
    const response = await this.open(path, deadlineMs);
    return await readAll(response);
  }

  /** The body as it arrives. Rejects with AnswerError when the kubelet refuses. */
  async open(path: string, deadlineMs?: number): Promise<IncomingMessage> {
    const response = await this.ask({ path, deadlineMs });
    if (response.statusCode === 200) return response;
    throw await refused(response, path);
  }

  /** A request that changes something. Rejects as `open` does. */
  async send(method: "PUT" | "DELETE", path: string, options: SendOptions = {}): Promise<Sent> {
    const response = await this.ask({ method, path, ...options, deadlineMs: WRITE_DEADLINE_MS });
    const status = response.statusCode ?? 0;
    if (status !== 200 && status !== 201) throw await refused(response, path);
    response.resume();
    return { created: status === 201 };
  }

  /** A request without a body that has an answer. Rejects as `open` does. */
  async post<T>(path: string): Promise<T> {
    const response = await this.ask({ method: "POST", path, deadlineMs: DEADLINE_MS });
    if (response.statusCode !== 200) throw await refused(response, path);
    return JSON.parse(await readAll(response)) as T;
  }

  private async ask({ method = "GET", path, headers = {}, body, deadlineMs }: Ask): Promise<IncomingMessage> {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = { socketPath: this.socket, method, path, headers: { ...headers, host: "localhost" } };
      const asked = request(sent, resolve);
      if (deadlineMs !== undefined) {
        asked.setTimeout(deadlineMs, () =>
          asked.destroy(
            new CliError(
              EXIT.noKubelet,
              `the kubelet did not respond to ${path} within ${deadlineMs / 1000} s`,
              "the process is stopped, or one of its threads hangs: `nodelet doctor`, and its log with `journalctl -u kubelet`",
            ),
          ),
        );
      }
      asked.on("error", (error) => reject(explain(error, this.socket)));
      asked.end(body);
    });
  }
}

async function refused(response: IncomingMessage, path: string): Promise<AnswerError> {
  const status = response.statusCode ?? 0;
  const text = refusalText(await readAll(response));
  return new AnswerError(status, text === "" ? `the kubelet responded to ${path} with ${status}` : text);
}

/** An error of the connection in words for an operator. */
function explain(error: Error, socket: string): Error {
  if (error instanceof CliError) return error;
  const code = errorCode(error);
  if (code === "EACCES" || code === "EPERM") {
    return new CliError(
      EXIT.noKubelet,
      `this user may not use the socket ${socket}`,
      "run the command as root, or start the kubelet with --admin-socket-group and join that group",
    );
  }
  if (code === "ENOENT" || code === "ECONNREFUSED") {
    const what = code === "ENOENT" ? `there is no socket ${socket}` : `no process responds on the socket ${socket}`;
    return new CliError(
      EXIT.noKubelet,
      `${what}: the kubelet does not run, or has another --admin-socket`,
      "see `systemctl status kubelet`; name another socket with --socket or another root directory with --root-dir",
    );
  }
  return new CliError(EXIT.noKubelet, `the kubelet at ${socket} did not respond: ${error.message}`);
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new CliError(EXIT.wrong, `a response of more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
