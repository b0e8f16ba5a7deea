// What the agent uses of @homebridge/dbus-native: calls and signals over the socket that it gives. The messages are
// lines of JSON here; the handshake is left out.

import { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import type { BusMessage } from "../world/system-bus.js";

type Done = (error: { name: string; message: string } | null, ...values: unknown[]) => void;

interface Client {
  connection: EventEmitter;
  invoke(message: BusMessage, done: Done): void;
}

function createClient({ stream }: { stream: Duplex }): Client {
  const connection = new EventEmitter();
  const calls = new Map<number, Done>();
  let serial = 0;
  let rest = "";
  const receive = (message: BusMessage): void => {
    const { replySerial, error, body = [] } = message;
    if (replySerial === undefined) {
      connection.emit("message", message);
      return;
    }
    const done = calls.get(replySerial);
    calls.delete(replySerial);
    done?.(error ?? null, ...body);
  };
  stream.on("connect", () => connection.emit("connect"));
  stream.on("error", (error) => connection.emit("error", error));
  stream.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) receive(JSON.parse(line) as BusMessage);
  });
  return {
    connection,
    invoke(message, done) {
      calls.set(++serial, done);
      stream.write(`${JSON.stringify({ ...message, serial })}\n`);
    },
  };
}

export default { createClient };
