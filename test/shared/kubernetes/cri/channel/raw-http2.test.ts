// What a server of HTTP/2 may do that grpc-js' own never does. Both channels pass the same cases.

import assert from "node:assert/strict";
import type { Http2Server, Http2Session, ServerHttp2Stream } from "node:http2";
import { describe, test } from "node:test";
import { withPrefix } from "../../../../../src/shared/kubernetes/cri/channel/message-reader.js";
import { CHANNELS, TestClient } from "./channels.js";
import { newSocket, startRawHttp2 } from "./servers.js";

type OnStream = (stream: ServerHttp2Stream, route: string, session: Http2Session) => boolean;

interface Case {
  settings?: Parameters<Http2Server["updateSettings"]>[0];
  padded?: boolean;
  /** Made anew for each run. */
  onStream?: () => OnStream;
  run: (client: TestClient, calls: () => number) => Promise<void>;
}

const ECHO = Buffer.from("hello");
const FIRST = { ":status": 200, "content-type": "application/grpc" };
const OK = { "grpc-status": "0" };

const expectEcho = async (client: TestClient): Promise<void> => {
  const { code, details, messages } = await client.unary("/t.T/Echo", ECHO);
  assert.deepEqual([code, details, messages], [0, "", [ECHO]]);
};
const always =
  (handle: (stream: ServerHttp2Stream) => void): (() => OnStream) =>
  () =>
  (stream) => {
    handle(stream);
    return true;
  };
const reply = (stream: ServerHttp2Stream, message: Buffer, trailers: Record<string, string>): void => {
  stream.respond(FIRST, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end(message);
};
/** A case whose server always ends a call in the same way. */
const status = (handle: (stream: ServerHttp2Stream) => void, code: number, details: string | RegExp): Case => ({
  onStream: always(handle),
  run: async (client) => {
    const outcome = await client.unary("/t.T/Echo", ECHO, { deadlineMs: 20_000 });
    assert.equal(outcome.code, code, outcome.details);
    if (typeof details === "string") assert.equal(outcome.details, details);
    else assert.match(outcome.details, details);
  },
});
const reset = (code: number, expected: number, details: string): Case =>
  status((stream) => stream.close(code), expected, details);

const CASES: Record<string, Case> = {
  "a status without a message": status(
    (stream) => stream.respond({ ...FIRST, "grpc-status": "5", "grpc-message": "gone%20%C3%A9" }, { endStream: true }),
    5,
    "gone é",
  ),
  "a text that is not percent-encoded": status(
    (stream) => stream.respond({ ...FIRST, "grpc-status": "2", "grpc-message": "100% %zz" }, { endStream: true }),
    2,
    "100% %zz",
  ),
  "OK without a message": status(
    (stream) => stream.respond({ ...FIRST, ...OK }, { endStream: true }),
    12,
    "No message received",
  ),
  "an HTTP status of 404": status(
    (stream) => stream.respond({ ":status": 404 }, { endStream: true }),
    12,
    "Received HTTP status code 404",
  ),
  "an HTTP status of 503": status(
    (stream) => stream.respond({ ":status": 503 }, { endStream: true }),
    14,
    "Received HTTP status code 503",
  ),
  "a page of an HTTP server": status(
    (stream) => {
      stream.respond({ ":status": 502, "content-type": "text/html" });
      stream.end("<html>no runtime here</html>");
    },
    14,
    "Received HTTP status code 502",
  ),
  "trailers without a status": status(
    (stream) => reply(stream, withPrefix(ECHO), { other: "x" }),
    2,
    "Received HTTP status code 200",
  ),
  "data without trailers": status(
    (stream) => {
      stream.respond(FIRST);
      stream.end(withPrefix(ECHO));
    },
    13,
    "Received RST_STREAM with code 0 (Call ended without gRPC status)",
  ),
  "half a message": status((stream) => reply(stream, withPrefix(ECHO).subarray(0, 7), OK), 12, "No message received"),
  "RST_STREAM with NO_ERROR": reset(0, 13, "Received RST_STREAM with code 0 (Call ended without gRPC status)"),
  "RST_STREAM with INTERNAL_ERROR": reset(2, 13, "Received RST_STREAM with code 2 (Internal server error)"),
  "RST_STREAM with CANCEL": reset(8, 1, "Call cancelled"),
  "RST_STREAM with ENHANCE_YOUR_CALM": reset(11, 8, "Bandwidth exhausted or memory limit exceeded"),
  "RST_STREAM with INADEQUATE_SECURITY": reset(12, 7, "Protocol not secure enough"),
  "RST_STREAM with HTTP_1_1_REQUIRED": reset(13, 13, "Received RST_STREAM with code 13"),
  "RST_STREAM with REFUSED_STREAM, always": {
    ...reset(7, 14, "Stream refused by server"),
    run: async (client, calls) => {
      const { code, details } = await client.unary("/t.T/Echo", ECHO);
      assert.deepEqual([code, details, calls()], [14, "Stream refused by server", 2]);
    },
  },
  "a call that is refused once is sent once more": {
    onStream: () => {
      let isFirst = true;
      return (stream) => {
        if (!isFirst) return false;
        isFirst = false;
        stream.close(7);
        return true;
      };
    },
    run: expectEcho,
  },
  "GOAWAY lets the calls in flight end, and later ones go to a new connection": {
    onStream: () => {
      let isFirst = true;
      return (stream, _route, session) => {
        if (!isFirst) return false;
        isFirst = false;
        session.goaway(0, stream.id);
        setTimeout(() => reply(stream, withPrefix(ECHO), OK), 100);
        return true;
      };
    },
    run: async (client) => {
      await Promise.all([
        expectEcho(client),
        new Promise((resolve) => setTimeout(resolve, 50)).then(() => expectEcho(client)),
      ]);
      await expectEcho(client);
    },
  },
  "calls above the number of streams that the server allows wait for their turn": {
    settings: { maxConcurrentStreams: 2 },
    run: async (client) => {
      await Promise.all(Array.from({ length: 40 }, () => expectEcho(client)));
    },
  },
  "windows of a few bytes are kept": {
    settings: { initialWindowSize: 10 },
    run: async (client) => {
      const { messages } = await client.unary("/t.T/Length", Buffer.alloc(3000));
      assert.equal(String(messages[0]), "3000");
    },
  },
  "a server that allows no table for fields is obeyed": {
    settings: { headerTableSize: 0 },
    run: async (client) => {
      await expectEcho(client);
      await expectEcho(client);
    },
  },
  "frames with padding are read": { padded: true, run: expectEcho },
  "informational responses are passed over": {
    onStream: () => (stream) => {
      stream.additionalHeaders({ ":status": 103 });
      stream.additionalHeaders({ ":status": 103 });
      return false;
    },
    run: expectEcho,
  },
  "a message that arrives byte by byte is read": {
    onStream: () => (stream) => {
      stream.respond(FIRST, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers(OK));
      for (const byte of withPrefix(ECHO)) stream.write(Buffer.from([byte]));
      stream.end();
      return true;
    },
    run: expectEcho,
  },
  "a stream of empty messages is read": {
    onStream: () => (stream) => {
      reply(stream, Buffer.concat(Array.from({ length: 500 }, () => withPrefix(Buffer.alloc(0)))), OK);
      return true;
    },
    run: async (client) => {
      const { code, messages } = await client.stream("/t.T/Many");
      assert.deepEqual([code, messages.length], [0, 500]);
    },
  },
  "trailers of 30 KiB are read": status(
    (stream) => reply(stream, withPrefix(ECHO), { "grpc-status": "9", "grpc-message": "x".repeat(30_000) }),
    9,
    /^x{30000}$/,
  ),
};

for (const channel of CHANNELS) {
  describe(`the ${channel} channel`, () => {
    for (const [title, { settings, padded = false, onStream, run }] of Object.entries(CASES)) {
      test(title, { timeout: 60_000 }, async (context) => {
        const path = await newSocket(context);
        const observed = { calls: 0, cancelled: 0 };
        const server = await startRawHttp2(path, observed, {
          padded,
          ...(settings !== undefined && { settings }),
          ...(onStream !== undefined && { onStream: onStream() }),
        });
        context.after(() => server.stop());
        const client = new TestClient(context, channel, path);
        await run(client, () => observed.calls);
        assert.deepEqual(client.faults, []);
      });
    }
  });
}
