// A gRPC client in the simulation: messages are encoded and decoded as on a socket, and take a moment of the seed's
// choice.

import { Readable } from "node:stream";
import { kernel } from "../kernel/kernel.js";
import type { Failed, Reply, Served } from "../world/runtime.js";
import { decoded } from "./decoded-replies.js";

type Done = (error: Error | null, reply?: unknown) => void;

interface Outcome {
  message(bytes: Buffer): void;
  end(): void;
  failed(error: Failed): void;
}

interface Sent {
  cancel(): void;
  /** The caller has what it wants. */
  finish(): void;
}

/** One way of a message, ms. */
function way(): number {
  return kernel.random.between(0.05, 2);
}

/** The other end of the socket. */
export interface GrpcServer {
  /** Runs as the world. */
  call(path: string, bytes: Buffer, reply: Reply): Served;
}

/** Sends a call; the outcome arrives as callbacks of the caller's owner. */
function send(
  server: () => GrpcServer,
  path: string,
  bytes: Buffer,
  deadline: Date | undefined,
  outcome: Outcome,
): Sent {
  const owner = kernel.current;
  let served: Served | undefined;
  let isOver = false;
  /** False: the caller has its outcome already. */
  const close = (): boolean => {
    if (isOver) return false;
    isOver = true;
    limit?.cancel();
    stopWatching();
    return true;
  };
  const giveUp = (error: Failed): void => {
    kernel.post(kernel.world, () => served?.cancel());
    if (close()) kernel.post(owner, () => outcome.failed(error));
  };
  const stopWatching = owner.onDeath(() => {
    isOver = true;
    limit?.cancel();
    kernel.post(kernel.world, () => served?.cancel());
  });
  const limit =
    deadline === undefined
      ? undefined
      : kernel.after(kernel.world, deadline.getTime() - kernel.wall, () =>
          giveUp({ code: 4, details: "Deadline exceeded" }),
        );
  // Replies keep their order.
  let last = 0;
  const reply = (fn: () => void): void => {
    last = Math.max(last, kernel.monotonic + way());
    kernel.after(kernel.world, last - kernel.monotonic, fn);
  };
  kernel.after(kernel.world, way(), () => {
    if (isOver) return;
    served = server().call(path, bytes, {
      message: (data) =>
        reply(() => {
          if (!isOver) kernel.deliver(owner, () => outcome.message(data));
        }),
      end: () =>
        reply(() => {
          if (close()) kernel.deliver(owner, () => outcome.end());
        }),
      failed: (error) =>
        reply(() => {
          if (close()) kernel.deliver(owner, () => outcome.failed(error));
        }),
    });
  });
  return {
    cancel: () => giveUp({ code: 1, details: "Cancelled on client" }),
    finish: () => void close(),
  };
}

function serviceError({ code, details }: Failed): Error {
  return Object.assign(new Error(`${code}: ${details}`), { code, details });
}

export class SimulatedClient {
  constructor(private readonly server: () => GrpcServer) {}

  makeUnaryRequest(
    path: string,
    serialize: (value: unknown) => Buffer,
    deserialize: (bytes: Buffer) => unknown,
    request: unknown,
    _metadata: unknown,
    { deadline }: { deadline?: Date },
    done: Done,
  ): { cancel(): void } {
    let isDone = false;
    const once = (fn: () => void): void => {
      if (isDone) return;
      isDone = true;
      fn();
    };
    const call = send(this.server, path, serialize(request), deadline, {
      message: (bytes) =>
        once(() => {
          call.finish();
          done(null, decoded(bytes, deserialize));
        }),
      end: () => undefined,
      failed: (error) => once(() => done(serviceError(error))),
    });
    return call;
  }

  makeServerStreamRequest(
    path: string,
    serialize: (value: unknown) => Buffer,
    deserialize: (bytes: Buffer) => unknown,
    request: unknown,
    _metadata: unknown,
    { deadline }: { deadline?: Date } = {},
  ): Readable & { cancel(): void } {
    const stream = new Readable({ objectMode: true, read: () => undefined });
    const call = send(this.server, path, serialize(request), deadline, {
      message: (bytes) => void stream.push(deserialize(bytes)),
      end: () => void stream.push(null),
      failed: (error) => void stream.destroy(serviceError(error)),
    });
    return Object.assign(stream, { cancel: () => call.cancel() });
  }
}
