// What a runtime may do to a call on the level of HTTP/2: each becomes one CriError.
import assert from "node:assert/strict";
import { once } from "node:events";
import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { describe, it, type TestContext } from "node:test";
import { isCriError, type CriError } from "../../../../src/shared/cri/errors.js";
import { frameOf } from "../../../../src/shared/cri/transport/frames.js";
import { VersionResponse } from "../../../../src/shared/cri/gen/runtime.v1.js";
import { clientOf, collect, socketPath } from "../support.js";
import type { CriClient } from "../../../../src/shared/cri/client.js";

const REPLY = frameOf(VersionResponse.encode(VersionResponse.fromPartial({ runtimeName: "raw" })).finish());
const TYPE = { "content-type": "application/grpc" };

interface Runtime {
  client: CriClient;
  sessions: ServerHttp2Session[];
}

async function runtime(
  context: TestContext,
  answer: (stream: ServerHttp2Stream, call: number) => void,
): Promise<Runtime> {
  const path = await socketPath(context);
  const server: Http2Server = createServer();
  const sessions: ServerHttp2Session[] = [];
  let calls = 0;
  server.on("session", (session) => sessions.push(session.on("error", () => undefined)));
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    answer(stream, ++calls);
  });
  server.listen(path);
  await once(server, "listening");
  context.after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { ...clientOf(context, `unix://${path}`), sessions };
}

function answerWell(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, ...TYPE }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(REPLY);
}

async function failureOf(call: Promise<unknown>): Promise<CriError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(isCriError(error), `not a CriError: ${String(error)}`);
  return error;
}

describe("a call on a raw HTTP/2 server", () => {
  it("reads the reply and the status in the trailers", async (context) => {
    const { client } = await runtime(context, answerWell);
    assert.equal((await client.version({})).runtimeName, "raw");
  });

  it("reads a status without a body, with its percent-encoded message", async (context) => {
    const { client } = await runtime(context, (stream) =>
      stream.respond(
        { ":status": 200, ...TYPE, "grpc-status": "5", "grpc-message": "no%20pod%2C 100%" },
        { endStream: true },
      ),
    );
    const first = await failureOf(client.version({}));
    assert.equal(first.code, "NOT_FOUND");
    // A message that is no percent-encoding is shown as it is.
    assert.equal(first.details, "no%20pod%2C 100%");
  });

  const answers: [string, (stream: ServerHttp2Stream) => void, string][] = [
    ["of HTTP status 503", (stream) => stream.respond({ ":status": 503 }, { endStream: true }), "UNAVAILABLE"],
    ["of HTTP status 404", (stream) => stream.respond({ ":status": 404 }, { endStream: true }), "UNIMPLEMENTED"],
    [
      "without any status",
      (stream) => {
        stream.respond({ ":status": 200, ...TYPE });
        stream.end(REPLY);
      },
      "INTERNAL",
    ],
    [
      "with status OK and no message",
      (stream) => {
        stream.respond({ ":status": 200, ...TYPE, "grpc-status": "0" }, { endStream: true });
      },
      "INTERNAL",
    ],
    [
      "with a message that cannot be decoded",
      (stream) => {
        stream.respond({ ":status": 200, ...TYPE }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
        stream.end(frameOf(Uint8Array.from([0x0a, 0xff])));
      },
      "INTERNAL",
    ],
    ["that is reset as an error", (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR), "INTERNAL"],
    ["that is reset as cancelled", (stream) => stream.close(constants.NGHTTP2_CANCEL), "CANCELLED"],
    [
      "with a status that gRPC does not define",
      (stream) => {
        stream.respond({ ":status": 200, ...TYPE, "grpc-status": "99" }, { endStream: true });
      },
      "UNKNOWN",
    ],
  ];
  for (const [what, answer, code] of answers) {
    it(`fails with ${code} for an answer ${what}, and the next call works`, async (context) => {
      const { client } = await runtime(context, (stream, call) => (call === 1 ? answer : answerWell)(stream));
      const error = await failureOf(client.version({}));
      assert.equal(error.code, code, error.message);
      assert.equal((await client.version({})).runtimeName, "raw");
    });
  }

  it("is sent once more when the runtime refused it without looking at it", async (context) => {
    const { client } = await runtime(context, (stream, call) => {
      if (call === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else answerWell(stream);
    });
    assert.equal((await client.version({})).runtimeName, "raw");
  });

  it("fails as unavailable when the runtime refuses it twice", async (context) => {
    const { client } = await runtime(context, (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM));
    assert.equal((await failureOf(client.version({}))).code, "UNAVAILABLE");
  });

  it("goes on after a runtime's GOAWAY, and the next call makes another connection", async (context) => {
    const { client, sessions } = await runtime(context, (stream, call) => {
      if (call === 1) stream.session?.goaway(constants.NGHTTP2_NO_ERROR);
      setTimeout(() => answerWell(stream), 20);
    });
    assert.equal((await client.version({})).runtimeName, "raw");
    assert.equal((await client.version({})).runtimeName, "raw");
    assert.equal(sessions.length, 2);
  });

  it("fails as unavailable when the connection is lost in the middle of the reply", async (context) => {
    const { client } = await runtime(context, (stream, call) => {
      if (call > 1) {
        answerWell(stream);
        return;
      }
      stream.respond({ ":status": 200, ...TYPE });
      stream.write(REPLY.subarray(0, 6));
      setTimeout(() => stream.session?.destroy(), 20);
    });
    assert.equal((await failureOf(client.version({}))).code, "UNAVAILABLE");
    assert.equal((await client.version({})).runtimeName, "raw");
  });
});

describe("a streamed reply", () => {
  it("gives every message in order, also to a slow reader, and then the failure", async (context) => {
    const count = 500;
    const { client } = await runtime(context, (stream) => {
      stream.respond({ ":status": 200, ...TYPE }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "13", "grpc-message": "enough" }));
      // An event with an id: field 1.
      for (let i = 0; i < count; i++) stream.write(frameOf(Buffer.from([0x0a, 3, ...Buffer.from(String(100 + i))])));
      stream.end();
    });
    const seen: string[] = [];
    const read = (async () => {
      for await (const { containerId } of client.getContainerEvents({})) {
        seen.push(containerId);
        if (seen.length % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    assert.equal((await failureOf(read)).code, "INTERNAL");
    assert.deepEqual(
      seen,
      Array.from({ length: count }, (_, i) => String(100 + i)),
    );
  });

  it("is reset at the runtime when its reader stops", async (context) => {
    let code: number | undefined;
    const { client } = await runtime(context, (stream) => {
      stream.respond({ ":status": 200, ...TYPE });
      stream.write(frameOf(Buffer.from([0x0a, 1, 0x31])));
      stream.on("close", () => (code = stream.rstCode));
    });
    for await (const { containerId } of client.getContainerEvents({})) {
      assert.equal(containerId, "1");
      break;
    }
    while (code === undefined) await new Promise((resolve) => setTimeout(resolve, 2));
    assert.equal(code, constants.NGHTTP2_CANCEL);
  });

  it("of a runtime without events fails as unimplemented", async (context) => {
    const { client } = await runtime(context, (stream) =>
      stream.respond({ ":status": 200, ...TYPE, "grpc-status": "12" }, { endStream: true }),
    );
    assert.equal((await failureOf(collect(client.getContainerEvents({})))).code, "UNIMPLEMENTED");
  });
});
