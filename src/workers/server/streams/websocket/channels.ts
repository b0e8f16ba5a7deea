// v5.channel.k8s.io: each message begins with its channel; the message [255, channel] says that the client says no more there.
// What must hold: a message of any size, in any cut, is passed on as it comes; what a server ignores in upstream's is ignored
// here: empty messages, channels that are not the client's to speak on.
import { WebSocketError, type Place } from "./frame-reader.js";

export const CHANNEL = { STDIN: 0, STDOUT: 1, STDERR: 2, ERROR: 3, RESIZE: 4 } as const;
const CLOSE = 255;

export interface ChannelEvents {
  onData(channel: number, part: Buffer): void;
  /** The client says no more on the channel; may come more than once. */
  onClose(channel: number): void;
}

export class ChannelReader {
  /** Of the message under way; undefined: its first byte is still to come. */
  private channel: number | undefined;
  /** The channel that a message of closing names. */
  private closing: number | undefined;

  constructor(private readonly events: ChannelEvents) {}

  /** @throws WebSocketError */
  push(part: Buffer, { first, last }: Place): void {
    if (first) this.channel = this.closing = undefined;
    let rest = part;
    if (this.channel === undefined && rest.length > 0) {
      this.channel = rest[0];
      rest = rest.subarray(1);
    }
    if (this.channel === CLOSE) this.close(rest, last);
    else if (this.channel !== undefined && rest.length > 0) this.events.onData(this.channel, rest);
  }

  private close(rest: Buffer, last: boolean): void {
    for (const channel of rest) {
      if (this.closing !== undefined || channel > CHANNEL.RESIZE) {
        throw new WebSocketError("a message that closes a channel must name one, and there are five");
      }
      this.closing = channel;
    }
    if (!last) return;
    if (this.closing === undefined) throw new WebSocketError("a message that closes a channel must name it");
    this.events.onClose(this.closing);
  }
}
