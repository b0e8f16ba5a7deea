// The two channels that the conformance cases run on, under the same client of grpc-js.

import type { TestContext } from "node:test";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { systemClock } from "../../../../../src/shared/base/clock/clock.js";
import type { ConnectionError } from "../../../../../src/shared/kubernetes/cri/channel/frames/http2-errors.js";
import { OwnChannel } from "../../../../../src/shared/kubernetes/cri/channel/own-channel.js";

export const CHANNELS = ["stock", "own"] as const;
export type ChannelName = (typeof CHANNELS)[number];

export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

export interface Outcome {
  /** 0: OK. */
  code: number;
  details: string;
  messages: Buffer[];
  /** Metadata of the response's first fields. */
  headers: Metadata | undefined;
  trailers: Metadata;
}

export interface Options {
  deadlineMs?: number;
  metadata?: Metadata;
  /** Called with what cancels the call: at once, and after each message. */
  onCall?: (call: { cancel(): void }, messages: number) => void;
  /** Before the next message is read. */
  between?: () => Promise<void>;
}

/** A client whose messages are bytes. */
export class TestClient {
  readonly faults: ConnectionError[] = [];
  readonly client: Client;
  /** Undefined for the stock one. */
  readonly own: OwnChannel | undefined;

  constructor(context: TestContext, name: ChannelName, path: string) {
    if (name === "own") {
      this.own = new OwnChannel({
        path,
        maxMessageBytes: MAX_MESSAGE_BYTES,
        clock: systemClock,
        onProtocolError: (error) => this.faults.push(error),
      });
    }
    const options =
      this.own !== undefined
        ? { channelOverride: this.own }
        : {
            "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
            "grpc.default_authority": "localhost",
            "grpc.initial_reconnect_backoff_ms": 100,
            "grpc.max_reconnect_backoff_ms": 300,
            "grpc.use_local_subchannel_pool": 1,
            "grpc-node.flow_control_window": 1024 * 1024,
          };
    this.client = new Client(`unix://${path}`, credentials.createInsecure(), options);
    context.after(() => this.client.close());
  }

  unary(path: string, message: Buffer = Buffer.alloc(0), options: Options = {}): Promise<Outcome> {
    const messages: Buffer[] = [];
    let headers: Metadata | undefined;
    return new Promise((resolve) => {
      const call = this.client.makeUnaryRequest<Buffer, Buffer>(
        path,
        (bytes) => bytes,
        (bytes) => bytes,
        message,
        options.metadata ?? new Metadata(),
        deadlineOf(options),
        (error, reply) => {
          if (reply !== undefined) messages.push(reply);
          resolve(outcomeOf(error, messages, headers));
        },
      );
      call.on("metadata", (metadata: Metadata) => (headers = metadata));
      options.onCall?.(call, 0);
    });
  }

  async stream(path: string, message: Buffer = Buffer.alloc(0), options: Options = {}): Promise<Outcome> {
    const messages: Buffer[] = [];
    let headers: Metadata | undefined;
    const call = this.client.makeServerStreamRequest<Buffer, Buffer>(
      path,
      (bytes) => bytes,
      (bytes) => bytes,
      message,
      options.metadata ?? new Metadata(),
      deadlineOf(options),
    );
    call.on("metadata", (metadata: Metadata) => (headers = metadata));
    options.onCall?.(call, 0);
    try {
      for await (const part of call as AsyncIterable<Buffer>) {
        messages.push(part);
        options.onCall?.(call, messages.length);
        await options.between?.();
      }
    } catch (error) {
      return outcomeOf(error as ServiceError, messages, headers);
    }
    return outcomeOf(null, messages, headers);
  }
}

function deadlineOf({ deadlineMs = 60_000 }: Options): { deadline: number } {
  return { deadline: Date.now() + deadlineMs };
}

function outcomeOf(error: ServiceError | null, messages: Buffer[], headers: Metadata | undefined): Outcome {
  if (error === null) return { code: 0, details: "", messages, headers, trailers: new Metadata() };
  return { code: error.code, details: error.details, messages, headers, trailers: error.metadata };
}
