// nodelet exec: runs a command in a container, as kubectl exec has it, over a WebSocket with v5.channel.k8s.io.
import { WebSocket, type RawData } from "ws";
import type { Context } from "../context.js";
import { CliError, EXIT } from "../errors.js";
import { findPod, podsOf } from "../pods/find.js";
import { containerName, podPath } from "../pods/paths.js";

const PROTOCOL = "v5.channel.k8s.io";
const CHANNEL = { STDIN: 0, STDOUT: 1, STDERR: 2, ERROR: 3, RESIZE: 4, CLOSE: 255 } as const;

export interface ExecOptions {
  namespace?: string;
  container?: string;
  stdin?: boolean;
  tty?: boolean;
}

interface Status {
  status?: string;
  message?: string;
  details?: { causes?: { reason?: string; message?: string }[] };
}

/** Resolves to the exit code of the command. */
export async function execCommand(
  { client }: Context,
  named: string,
  command: readonly string[],
  { namespace, container, stdin = false, tty = false }: ExecOptions,
): Promise<number> {
  const pod = findPod(await podsOf(client), named, namespace);
  const query = new URLSearchParams(command.map((word): [string, string] => ["command", word]));
  query.set("output", "1");
  if (stdin) query.set("input", "1");
  if (tty) query.set("tty", "1");
  else query.set("error", "1");
  const path = `/exec/${podPath(pod)}/${encodeURIComponent(containerName(pod, container))}?${query.toString()}`;
  const socket = new WebSocket(`ws+unix:${client.socket}:${path}`, [PROTOCOL]);
  const terminal = tty && stdin && process.stdin.isTTY;
  try {
    return await converse(socket, { stdin, tty, terminal });
  } finally {
    if (terminal) process.stdin.setRawMode(false);
    process.stdin.destroy();
    socket.terminate();
  }
}

function converse(
  socket: WebSocket,
  { stdin, tty, terminal }: { stdin: boolean; tty: boolean; terminal: boolean },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (message: string): void => reject(new CliError(EXIT.wrong, message));
    const send = (channel: number, data: Buffer): void => socket.send(Buffer.concat([Buffer.of(channel), data]));
    const resize = (): void => {
      const { columns: Width, rows: Height } = process.stdout;
      send(CHANNEL.RESIZE, Buffer.from(JSON.stringify({ Width, Height })));
    };
    socket.once("open", () => {
      if (terminal) process.stdin.setRawMode(true);
      if (tty && process.stdout.isTTY) {
        resize();
        process.stdout.on("resize", resize);
      }
      if (!stdin) return;
      process.stdin.on("data", (data: Buffer) => send(CHANNEL.STDIN, data));
      process.stdin.once("end", () => socket.send(Buffer.of(CHANNEL.CLOSE, CHANNEL.STDIN)));
    });
    socket.on("message", (raw: RawData) => {
      const message = raw as Buffer;
      const [channel] = message;
      const data = message.subarray(1);
      if (channel === CHANNEL.STDOUT) process.stdout.write(data);
      else if (channel === CHANNEL.STDERR) process.stderr.write(data);
      else if (channel === CHANNEL.ERROR) {
        const result = exitCodeOf(JSON.parse(data.toString()) as Status);
        if (typeof result === "number") resolve(result);
        else fail(result);
      }
    });
    socket.once("unexpected-response", (_request, response) => {
      let text = "";
      response.on("data", (part: Buffer) => (text += part.toString()));
      response.once("end", () =>
        fail(text.trim() === "" ? `the kubelet answered with ${response.statusCode}` : text.trim()),
      );
    });
    socket.once("error", (error) => fail(error.message));
    socket.once("close", () => fail("the connection ended before the command did"));
  });
}

/** The exit code, or why there is none. */
function exitCodeOf({ status, message = "", details }: Status): number | string {
  if (status === "Success") return 0;
  const code = details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
  return code !== undefined && /^\d+$/.test(code) ? Number(code) : message;
}
