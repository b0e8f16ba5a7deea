// The connection to the runtime. Invariant: no call waits for a reconnect back-off. grpc-js retries a lost connection
// with growing pauses (up to 3 s here) and fails calls in between; a new pod would feel that pause after a runtime
// restart. Connecting to a unix socket costs microseconds, so a call that finds the channel in back-off gets a fresh
// one.

import { Client, connectivityState, credentials, type ChannelOptions } from "@grpc/grpc-js";
import { parseEndpoint } from "./endpoint.js";

/** Largest reply we accept: a ListContainers of several thousand containers. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

const CHANNEL_OPTIONS: ChannelOptions = {
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
  readonly #target: string;
  #client: Client;
  #closed = false;

  constructor(endpoint: string) {
    this.#target = `unix://${parseEndpoint(endpoint).path}`;
    this.#client = this.#connect();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The client to make the next call with. */
  acquire(): Client {
    if (!this.#closed && this.#state() === connectivityState.TRANSIENT_FAILURE) {
      // Nothing is in flight on a channel in back-off: its calls have failed already.
      this.#client.close();
      this.#client = this.#connect();
    }
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

  #connect(): Client {
    return new Client(this.#target, credentials.createInsecure(), CHANNEL_OPTIONS);
  }
}
