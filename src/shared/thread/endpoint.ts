// comlink over a Node MessagePort, with errors that keep their name and code.
// comlink brings an adapter for Node in a file that nodenext resolution cannot type; this is all we need of it.
// Invariant: an error in a handler reaches `onLost` and leaves no other trace. The message is lost, and no other
// repeats it: the thread at the worker's end has to start over (docs/adr/0040).

import type { MessagePort, Transferable } from "node:worker_threads";
import { transferHandlers, type Endpoint, type TransferHandler } from "comlink";
import { faultPoint } from "../base/faults/fault-points.js";
import type { SerializedError } from "../contracts/thread.js";
import { rebuildError, serializeError } from "./errors.js";

interface DataEvent {
  data: unknown;
}
type Listener = ((event: DataEvent) => void) | { handleEvent(event: DataEvent): void };

/**
 * comlink's view of `port`. While comlink listens on it, the port keeps its thread alive; close the port to end that.
 */
export function portEndpoint(port: MessagePort, onLost: (error: unknown) => void): Endpoint {
  const listeners = new Map<Listener, (data: unknown) => void>();
  return {
    postMessage: (message: unknown, transfer?: Transferable[]) => {
      port.postMessage(message, transfer);
    },
    addEventListener: (_type: string, listener: Listener) => {
      const onMessage = (data: unknown): void => {
        try {
          faultPoint("thread-message");
          if (typeof listener === "function") listener({ data });
          else listener.handleEvent({ data });
        } catch (error) {
          onLost(error);
        }
      };
      listeners.set(listener, onMessage);
      port.on("message", onMessage);
    },
    removeEventListener: (_type: string, listener: Listener) => {
      const onMessage = listeners.get(listener);
      if (onMessage === undefined) return;
      listeners.delete(listener);
      port.off("message", onMessage);
    },
    start: () => {
      port.start();
    },
  };
}

interface Thrown {
  value: unknown;
}

// comlink's own handler recognises thrown values, but drops their `code`.
const original = transferHandlers.get("throw") as TransferHandler<Thrown, unknown>;
const errorHandler: TransferHandler<Thrown, SerializedError> = {
  canHandle: (value): value is Thrown => original.canHandle(value),
  serialize: ({ value }) => [serializeError(value), []],
  deserialize: (serialized) => {
    throw rebuildError(serialized);
  },
};
transferHandlers.set("throw", errorHandler);
