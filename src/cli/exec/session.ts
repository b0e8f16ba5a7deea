// One command in a container, over a WebSocket with v5.channel.k8s.io to the kubelet's exec route.
// Invariant: neither direction gathers more than one high-water mark; the slower side sets the pace.
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/4006-transition-spdy-to-websockets

import type { IncomingMessage } from "node:http";
import type { Readable, Writable } from "node:stream";
import { WebSocket, type RawData } from "ws";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { Client } from "../client.js";
import { CliError, EXIT } from "../errors.js";
import { podPath } from "../pods/pod-paths.js";
import { refusalText } from "../refusal-text.js";

const PROTOCOL = "v5.channel.k8s.io";
const CHANNEL = { STDIN: 0, STDOUT: 1, STDERR: 2, ERROR: 3, RESIZE: 4, CLOSE: 255 } as const;
/** Bytes that may wait for the kubelet. */
const HIGH_WATER = 1024 * 1024;

export interface ExecRequest {
  pod: Pod;
  /** Its name. */
  container: string;
  command: readonly string[];
  tty?: boolean;
}

export interface ExecStreams {
  /** Absent: the command has no standard input. */
  stdin?: Readable | undefined;
  stdout: Writable;
  stderr: Writable;
  /** Runs once the command has started; `resize` sets the size of its terminal. */
  onStart?: (resize: (columns: number, rows: number) => void) => void;
}

interface Status {
  status?: string;
  message?: string;
  details?: { causes?: { reason?: string; message?: string }[] };
}

/** Resolves to the exit code of the command. @throws CliError when it did not run, or the connection ended before it */
export async function execIn(client: Client, request: ExecRequest, streams: ExecStreams): Promise<number> {
  const query = new URLSearchParams(request.command.map((word): [string, string] => ["command", word]));
  query.set("output", "1");
  if (streams.stdin !== undefined) query.set("input", "1");
  query.set(request.tty === true ? "tty" : "error", "1");
  const path = `/exec/${podPath(request.pod)}/${encodeURIComponent(request.container)}?${query.toString()}`;
  const socket = new WebSocket(`ws+unix:${client.socket}:${path}`, [PROTOCOL]);
  try {
    return await runSession(socket, streams);
  } finally {
    socket.terminate();
  }
}

function runSession(socket: WebSocket, { stdin, stdout, stderr, onStart }: ExecStreams): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (message: string): void => reject(new CliError(EXIT.wrong, message));
    const pass = (to: Writable, data: Buffer): void => {
      if (to.write(data) || socket.isPaused) return;
      socket.pause();
      to.once("drain", () => socket.resume());
    };
    socket.once("open", () => {
      onStart?.((Width, Height) => send(socket, CHANNEL.RESIZE, Buffer.from(JSON.stringify({ Width, Height }))));
      if (stdin !== undefined) sendAll(socket, stdin);
    });
    socket.on("message", (raw: RawData) => {
      const message = raw as Buffer;
      const data = message.subarray(1);
      if (message[0] === CHANNEL.STDOUT) pass(stdout, data);
      else if (message[0] === CHANNEL.STDERR) pass(stderr, data);
      else if (message[0] === CHANNEL.ERROR) {
        const result = exitCodeOf(JSON.parse(data.toString()) as Status);
        if (typeof result === "number") resolve(result);
        else fail(result);
      }
    });
    socket.once("unexpected-response", (_request, response) => void refusal(response).then(fail));
    socket.once("error", (error) => fail(error.message));
    socket.once("close", () => fail("the connection was closed before the command exited"));
  });
}

function send(socket: WebSocket, channel: number, data: Buffer, sent?: () => void): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(Buffer.concat([Buffer.of(channel), data]), sent);
}

function sendAll(socket: WebSocket, stdin: Readable): void {
  stdin.on("data", (data: Buffer) => {
    // The command has ended; its input is read to the end, so that its writer ends, too.
    if (socket.readyState !== WebSocket.OPEN) return;
    send(socket, CHANNEL.STDIN, data, () => {
      if (stdin.isPaused() && socket.bufferedAmount < HIGH_WATER) stdin.resume();
    });
    if (socket.bufferedAmount >= HIGH_WATER) stdin.pause();
  });
  stdin.once("end", () => send(socket, CHANNEL.CLOSE, Buffer.of(CHANNEL.STDIN)));
}

async function refusal(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of response as AsyncIterable<Buffer>) text += part.toString();
  return refusalText(text) || `the kubelet responded with ${response.statusCode}`;
}

/** The exit code, or why there is none. */
function exitCodeOf({ status, message = "", details }: Status): number | string {
  if (status === "Success") return 0;
  const code = details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
  return code !== undefined && /^\d+$/.test(code) ? Number(code) : message;
}
