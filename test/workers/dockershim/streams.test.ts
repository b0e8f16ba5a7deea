// Streams of the CRI server: a bounded number, because what a caller does not read stays in memory.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect as connectHttp2, type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { CriServer, MAX_STREAMS } from "../../../src/workers/dockershim/server.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { keptLog } from "../../support/sources-kit.js";

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-shim-streams-"));
});
after(() => rm(dir, { recursive: true, force: true }));

const EXHAUSTED = "8";

test("more streams than a kubelet has are refused, also while a list is not read; ended ones count no more", async () => {
  const socketPath = join(dir, "shim.sock");
  let served = 0;
  const server = new CriServer({
    socketPath,
    verbs: {},
    streams: {
      streamContainers: (_request, send) => {
        served++;
        send({ containers: [] });
        return Promise.resolve();
      },
    },
    onCall: () => undefined,
    now: () => 0,
    log: keptLog().log,
  });
  await server.start();
  const session = connectHttp2("http://localhost", {
    createConnection: () => connect(socketPath),
    settings: { initialWindowSize: 0 },
  });
  const ask = (): ClientHttp2Stream => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/runtime.v1.RuntimeService/StreamContainers",
      ...{ "content-type": "application/grpc", te: "trailers" },
    });
    stream.end(Buffer.alloc(5));
    return stream.on("error", () => undefined);
  };
  const status = async (stream: ClientHttp2Stream): Promise<unknown> => {
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    return headers["grpc-status"];
  };
  try {
    const [first, ...others] = Array.from({ length: MAX_STREAMS }, ask);
    await waitFor(() => served === MAX_STREAMS, { what: "the streams" });
    assert.equal(await status(ask()), EXHAUSTED);
    first?.close();
    await waitFor(async () => (await status(ask())) === undefined, { what: "a stream in the place of the first" });
    assert.equal(served, MAX_STREAMS + 1);
    for (const stream of others) stream.close();
  } finally {
    session.destroy();
    await server.stop();
  }
});
