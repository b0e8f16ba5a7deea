// v5.channel.k8s.io: each message begins with its channel; the message [255, channel] closes the client's side of that
// channel. Invariant: messages that upstream ignores are ignored here: empty messages, and channels on which the client
// may not send.
import { WebSocketError } from "./web-socket.js";

export const CHANNEL = { STDIN: 0, STDOUT: 1, STDERR: 2, ERROR: 3, RESIZE: 4 } as const;
const CLOSE = 255;

export interface ChannelEvents {
  onData(channel: number, data: Buffer): void;
  /** The client sends no more on the channel; may come more than once. */
  onClose(channel: number): void;
}

/** @throws WebSocketError */
export function readMessage(message: Buffer, events: ChannelEvents): void {
  const [channel] = message;
  const data = message.subarray(1);
  if (channel === CLOSE) events.onClose(closedChannel(data));
  else if (channel !== undefined && data.length > 0) events.onData(channel, data);
}

export function messageOf(channel: number, data: Buffer): Buffer {
  return Buffer.concat([Buffer.of(channel), data]);
}

function closedChannel(data: Buffer): number {
  const [channel] = data;
  if (channel === undefined || data.length > 1 || channel > CHANNEL.RESIZE) {
    throw new WebSocketError("a message that closes a channel must name one, and there are five");
  }
  return channel;
}

// Exit status of a command on the error channel: the runtime's Status, or one that the kubelet creates.

/** The runtime's are a few hundred bytes. */
const MAX_STATUS = 64 * 1024;

export class CommandStatus {
  private readonly parts: Buffer[] = [];
  private size = 0;

  /** Adds data of the runtime's error stream. */
  add(part: Buffer): void {
    this.size += part.length;
    if (this.size <= MAX_STATUS) this.parts.push(part);
  }

  /** The runtime closed its error stream: its Status unchanged, or success if it sent none. */
  said(): Buffer {
    if (this.size === 0) return Buffer.from(JSON.stringify({ metadata: {}, status: "Success" }));
    const text = Buffer.concat(this.parts);
    if (this.size > MAX_STATUS || !isStatus(text)) return failed("the runtime's result of the command is not a Status");
    return text;
  }
}

/** A Status with upstream's text for a failure between the kubelet and the runtime. */
export function failed(why: string): Buffer {
  return Buffer.from(
    JSON.stringify({
      metadata: {},
      status: "Failure",
      message: `Internal error occurred: ${why}`,
      reason: "InternalError",
      details: { causes: [{ message: why }] },
      code: 500,
    }),
  );
}

function isStatus(text: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(text.toString("utf8"));
    return typeof value === "object" && value !== null && "status" in value;
  } catch {
    return false;
  }
}
