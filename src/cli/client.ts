// Requests to the kubelet on its admin socket. A request without an answer ends after its deadline; answers are bounded.
import { request, type IncomingMessage } from "node:http";
import { errorCode } from "../shared/errors/thrown.js";
import { CliError, EXIT } from "./errors.js";

const DEADLINE_MS = 15_000;
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

export class Client {
  constructor(readonly socket: string) {}

  async json<T>(path: string): Promise<T> {
    return JSON.parse(await this.text(path)) as T;
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

  async text(path: string): Promise<string> {
    const response = await this.open(path, DEADLINE_MS);
    return await readAll(response);
  }

  /** The body as it arrives. Rejects with AnswerError when the kubelet refuses. */
  async open(path: string, deadlineMs?: number): Promise<IncomingMessage> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request({ socketPath: this.socket, path, headers: { host: "localhost" } }, resolve);
      if (deadlineMs !== undefined) {
        asked.setTimeout(deadlineMs, () =>
          asked.destroy(
            new CliError(
              EXIT.noKubelet,
              `the kubelet did not respond ${path} within ${deadlineMs / 1000} s`,
              "see its threads with `nodelet status` and its log with `journalctl -u kubelet`",
            ),
          ),
        );
      }
      asked.once("error", (error) => reject(explain(error, this.socket)));
      asked.end();
    });
    if (response.statusCode === 200) return response;
    const text = (await readAll(response)).trim();
    throw new AnswerError(
      response.statusCode ?? 0,
      text === "" ? `the kubelet responded to ${path} with ${response.statusCode}` : text,
    );
  }
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
