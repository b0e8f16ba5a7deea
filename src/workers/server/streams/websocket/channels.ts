// v5.channel.k8s.io: each message begins with its channel; the message [255, channel] closes the client's side of that
// channel. Invariant: messages that upstream ignores are ignored here: empty messages, and channels on which the client
// may not send.

import { WebSocketError } from "./close-codes.js";

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
