// The wire of D-Bus for servers of tests: EXTERNAL as a server answers it, and messages both ways.

import { createRequire } from "node:module";
import type { Socket } from "node:net";

export interface Message {
  type?: number;
  serial?: number;
  replySerial?: number;
  path?: string;
  interface?: string;
  member?: string;
  sender?: string;
  destination?: string;
  errorName?: string;
  signature?: string;
  body?: unknown[];
}
interface Wire {
  marshall(message: Message): Buffer;
  unmarshalMessages(stream: Socket, onMessage: (message: Message) => void, options: { ReturnLongjs: boolean }): void;
}
export const wire = createRequire(import.meta.url)("@homebridge/dbus-native/lib/message.js") as Wire;

export const [RETURN, ERROR, SIGNAL] = [2, 3, 4];

/** The server's half of EXTERNAL: one line to accept, one to begin. Calls `done` once what follows are messages. */
export function authenticate(socket: Socket, done: () => void): void {
  let line = "";
  const onReadable = (): void => {
    for (;;) {
      const byte = socket.read(1) as Buffer | null;
      if (byte === null) return;
      line += byte.toString("latin1");
      if (!line.endsWith("\r\n")) continue;
      const said = line.replace("\0", "").trim();
      line = "";
      if (said.startsWith("AUTH EXTERNAL ")) {
        socket.write("OK 0123456789abcdef0123456789abcdef\r\n");
      } else if (said === "BEGIN") {
        socket.off("readable", onReadable);
        // Later: only a stream without readers tells a new one of bytes that are there already.
        setImmediate(done);
        return;
      } else {
        socket.end("ERROR\r\n");
      }
    }
  };
  socket.on("readable", onReadable);
}
