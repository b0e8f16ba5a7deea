// The connection to the runtime. Invariant: no call waits for a reconnect back-off. A channel retries a lost connection
// with growing pauses (up to 3 s here) and fails calls in between; a new pod would feel that pause after a runtime
// restart. Connecting to a unix socket costs microseconds, so a call that finds the channel in back-off gets a fresh
// one. After a runtime broke HTTP/2 on our own channel, later calls take the one of grpc-js (docs/adr/0117).

import { ChannelCredentials, Client, connectivityState, type ChannelOptions } from "@grpc/grpc-js";
import { systemClock } from "../../base/clock/clock.js";
import type { CriChannelKind } from "./channel-kind.js";
import { OwnChannel } from "./channel/own-channel.js";
import { parseEndpoint } from "./endpoint.js";

/** Largest reply we accept: a ListContainers of several thousand containers. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

const STOCK_OPTIONS: ChannelOptions = {
  "grpc.default_authority": "localhost",
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 3000,
  // A subchannel shared with the channel it replaces would bring the back-off along.
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_channelz": 0,
  "grpc.enable_http_proxy": 0,
  "grpc.service_config_disable_resolution": 1,
  // One round trip per 64 KiB (the HTTP/2 default) would slow large lists down.
  "grpc-node.flow_control_window": 1024 * 1024,
};

export class CriChannel {
  readonly #path: string;
  readonly #onFallback: (error: Error) => void;
  #kind: CriChannelKind;
  #client: Client;
  #closed = false;

  /** @param onFallback called once, when our own channel is given up */
  constructor(endpoint: string, kind: CriChannelKind, onFallback: (error: Error) => void) {
    this.#path = parseEndpoint(endpoint).path;
    this.#onFallback = onFallback;
    this.#kind = kind;
    this.#client = this.#connect();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The client to make the next call with. */
  acquire(): Client {
    if (!this.#closed && this.#state() === connectivityState.TRANSIENT_FAILURE) this.#replace();
    return this.#client;
  }

  /** True while the channel has no usable connection. */
  get disconnected(): boolean {
    return this.#state() !== connectivityState.READY;
  }

  close(): void {
    this.#closed = true;
    this.#client.close();
  }

  #state(): connectivityState {
    return this.#client.getChannel().getConnectivityState(false);
  }

  /** Nothing is in flight on a channel in back-off, or on one whose peer broke the protocol. */
  #replace(): void {
    const former = this.#client;
    this.#client = this.#connect();
    former.close();
  }

  #fallBack(error: Error): void {
    if (this.#closed || this.#kind === "grpc-js") return;
    this.#kind = "grpc-js";
    this.#replace();
    this.#onFallback(error);
  }

  #connect(): Client {
    const options = this.#kind === "own" ? { channelOverride: this.#ownChannel() } : STOCK_OPTIONS;
    return new Client(`unix://${this.#path}`, ChannelCredentials.createInsecure(), options);
  }

  #ownChannel(): OwnChannel {
    return new OwnChannel({
      path: this.#path,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      // Deadlines are the machine's time, as those of grpc-js.
      clock: systemClock,
      onProtocolError: (error) => this.#fallBack(error),
    });
  }
}
