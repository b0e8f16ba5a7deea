// exec and attach for v5.channel.k8s.io. Each channel of the client becomes a stream of a SPDY connection to the
// runtime, which uses v4.channel.k8s.io. The runtime's URLs do not support v5, and its WebSockets cannot half-close.
// Invariant: a channel that the client closes ends only the command's input. The status comes last, after all output. A
// broken connection to the runtime is no success.

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { faultPoint } from "../../../shared/base/faults/fault-points.js";
import { RST, SpdyError } from "../../../shared/io/spdy/frames.js";
import { ownedBy } from "../clients/owned.js";
import type { Connections, FirstBytes, Passthrough } from "./passage.js";
import { SpdySession } from "./spdy/session.js";
import { chosenProtocol, spdyHeaders } from "./spdy/upgrade.js";
import type { StreamOptions } from "./stream-options.js";
import { CHANNEL, messageOf, readMessage, type ChannelEvents } from "./websocket/channels.js";
import { CLOSE_CODE } from "./websocket/close-codes.js";
import { CommandStatus, failed } from "./websocket/command-status.js";
import { checkHandshake } from "./websocket/handshake.js";
import { CHANNELS_V5 } from "./websocket/offer.js";
import { WebSocketEnd } from "./websocket/web-socket.js";

const V4 = "v4.channel.k8s.io";

/**
 * @param streams those that were requested from the runtime
 * @throws HandshakeError
 */
export function translatedCommand(request: IncomingMessage, streams: StreamOptions, clock: Clock): Passthrough {
  checkHandshake(request);
  return {
    method: "POST",
    headers: spdyHeaders(request, [V4]),
    switched: (reply) => {
      const chosen = chosenProtocol(reply);
      if (chosen !== V4)
        throw new OperatorError(`the request offered ${V4} and the runtime chose ${JSON.stringify(chosen)}`);
      return (ends, heads) => new RemoteCommand(ends, streams, clock).start(request, heads);
    },
  };
}

class RemoteCommand {
  private readonly socket: Duplex;
  private readonly client: WebSocketEnd;
  private readonly runtime: Socket;
  private readonly session: SpdySession;
  private readonly status = new CommandStatus();
  /** The SPDY stream of each channel that there is. */
  private readonly streamOf = new Map<number, number>();
  private readonly channelOf = new Map<number, number>();
  /** Channels on which the runtime may still send data. */
  private readonly speaking = new Set<number>();
  private goneAway = false;
  private finished = false;

  constructor(
    ends: Connections,
    private readonly options: StreamOptions,
    clock: Clock,
  ) {
    this.socket = ends.client;
    this.runtime = ends.runtime;
    const channels: ChannelEvents = {
      onData: (channel, data) => this.toRuntime(channel, data),
      onClose: (channel) => this.endStream(channel),
    };
    this.client = new WebSocketEnd(ends.client, {
      text: true,
      clock,
      events: {
        onMessage: (message) => readMessage(message, channels),
        onEnd: () => this.leave(),
        onDrain: () => this.runtime.resume(),
      },
    });
    this.session = new SpdySession(this.runtime, {
      onData: (stream, part) => this.toClient(stream, part),
      onEnd: (stream, reset) => this.onEnd(stream, reset),
      onGoAway: () => (this.goneAway = true),
    });
  }

  start(request: IncomingMessage, heads: FirstBytes): void {
    const { stdin, stdout, stderr, tty } = this.options;
    this.runtime.cork();
    this.open(CHANNEL.ERROR, "error");
    if (stdin) this.open(CHANNEL.STDIN, "stdin");
    if (stdout) this.open(CHANNEL.STDOUT, "stdout");
    if (stderr) this.open(CHANNEL.STDERR, "stderr");
    if (tty) this.open(CHANNEL.RESIZE, "resize");
    this.runtime.uncork();
    this.client.open(request, heads.client, CHANNELS_V5);
    // Clients wait for a first message, which confirms that all is ready.
    this.client.send(Buffer.of(stdout ? CHANNEL.STDOUT : stderr ? CHANNEL.STDERR : CHANNEL.ERROR));

    const { socket } = this;
    const onData = ownedBy(socket, (chunk: Buffer) => {
      faultPoint("runtime-data");
      this.read(chunk);
    });
    const onDrain = ownedBy(socket, () => this.client.resume());
    const onEnd = ownedBy(socket, () => this.onGone());
    this.runtime.on("data", onData).on("drain", onDrain).once("end", onEnd).once("close", onEnd);
    if (heads.runtime.length > 0) this.read(heads.runtime);
  }

  private open(channel: number, streamtype: string): void {
    const stream = this.session.open({ streamtype });
    this.streamOf.set(channel, stream);
    this.channelOf.set(stream, channel);
    if (channel === CHANNEL.ERROR || channel === CHANNEL.STDOUT || channel === CHANNEL.STDERR)
      this.speaking.add(channel);
  }

  private toRuntime(channel: number, part: Buffer): void {
    if (this.finished || (channel !== CHANNEL.STDIN && channel !== CHANNEL.RESIZE)) return;
    const stream = this.streamOf.get(channel);
    if (stream !== undefined && !this.session.write(stream, part)) this.client.pause();
  }

  private endStream(channel: number): void {
    const stream = this.streamOf.get(channel);
    if (stream !== undefined && (channel === CHANNEL.STDIN || channel === CHANNEL.RESIZE)) this.session.end(stream);
  }

  private toClient(stream: number, part: Buffer): void {
    const channel = this.channelOf.get(stream);
    if (channel === CHANNEL.ERROR) this.status.add(part);
    else if (channel === CHANNEL.STDOUT || channel === CHANNEL.STDERR) {
      if (!this.client.send(messageOf(channel, part))) this.runtime.pause();
    }
  }

  private read(chunk: Buffer): void {
    if (this.finished) return;
    try {
      this.session.push(chunk);
    } catch (error) {
      if (!(error instanceof SpdyError)) throw error;
      this.finish(failed(`the runtime's streaming server sent ${error.message}`));
    }
  }

  private onEnd(stream: number, reset: number | undefined): void {
    const channel = this.channelOf.get(stream) ?? CHANNEL.ERROR;
    // A streaming server that has finished resets the streams that are still open.
    if (reset !== undefined && reset !== RST.CANCEL) {
      this.finish(failed(`the runtime's streaming server reset a stream (status ${reset})`));
      return;
    }
    // The command reads no more: its input is dropped.
    if (channel === CHANNEL.STDIN) this.session.end(stream);
    this.speaking.delete(channel);
    if (this.speaking.size === 0) this.finish(this.status.said());
  }

  private onGone(): void {
    const hasStatus = this.goneAway || !this.speaking.has(CHANNEL.ERROR);
    this.finish(hasStatus ? this.status.said() : failed("the runtime's streaming server broke off"));
  }

  private finish(status: Buffer): void {
    if (this.finished) return;
    this.finished = true;
    this.client.send(messageOf(CHANNEL.ERROR, status));
    this.client.close(CLOSE_CODE.NORMAL);
    this.leave();
  }

  private leave(): void {
    this.finished = true;
    this.runtime.end();
    // Discard further data, so that the end of the stream is read.
    this.runtime.resume();
  }
}
