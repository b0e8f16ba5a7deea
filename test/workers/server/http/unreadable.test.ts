// The response to a request that Node's parser refuses, on connections whose writes take time, as those of TLS do.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { answerUnreadable } from "../../../../src/workers/server/http/unreadable.js";
import { until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const LINGER_MS = 1000;

/** The server's end of a connection. Each write ends after a turn of the event loop. */
class SlowConnection extends Duplex {
  sent = "";
  override _read(): void {
    // Pushed by the test.
  }
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    setImmediate(() => {
      if (!this.destroyed) this.sent += chunk.toString();
      done();
    });
  }
}

function connectionTo(onRequest: (response: ServerResponse) => void = () => undefined): {
  connection: SlowConnection;
  clock: SteppedClock;
} {
  const clock = new SteppedClock(1000);
  const server = createServer({ maxHeaderSize: 1024 }, (_request, response) => onRequest(response));
  server.on("clientError", answerUnreadable({ lingerMs: LINGER_MS, clock }));
  const connection = new SlowConnection();
  server.emit("connection", connection);
  return { connection, clock };
}

const REFUSED: [what: string, bytes: string, status: string][] = [
  ["no HTTP", "XTTP\r\n\r\n", "400 Bad Request"],
  [
    "a head that is too long",
    `GET / HTTP/1.1\r\nX: ${"a".repeat(2000)}\r\n\r\n`,
    "431 Request Header Fields Too Large",
  ],
];

for (const [what, bytes, status] of REFUSED) {
  test(`${what}: the response arrives although an earlier write is not done, and further bytes do not cut it`, async () => {
    const { connection, clock } = connectionTo();
    // A session ticket.
    connection.write("earlier ");
    connection.push(bytes);
    connection.push("more\r\n\r\n");
    await once(connection, "finish");
    assert.equal(connection.sent, `earlier HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    assert.equal(connection.destroyed, false, "the client may still read");
    clock.step(LINGER_MS);
    assert.equal(connection.destroyed, true);
  });
}

test("a response that has begun is not continued with another one", async () => {
  const { connection } = connectionTo((response) => response.writeHead(200).write("part"));
  connection.push("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => connection.sent.includes("part"));
  connection.push("XTTP\r\n\r\n");
  await new Promise((resolve) => connection.once("close", resolve));
  assert.doesNotMatch(connection.sent, /400/);
});
