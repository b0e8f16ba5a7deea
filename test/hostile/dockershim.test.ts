// A hostile client at the dockershim's own CRI socket, and a Docker Engine that answers with bombs: an honest client is
// answered, the thread that serves is not restarted, and its memory stays bounded.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";
import { usageOf } from "../../bench/lib/process-usage.js";
import { RuntimeServiceService } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { sleep } from "../../tools/standalone/wait.js";
import { DockershimProcess } from "../support/dockershim-process.js";
import { type Answer, CONTAINER, FakeEngine, ID, json } from "../support/fake-engine.js";
import { size } from "./attack.js";

const MIB = 1024 * 1024;
const GROWTH_MIB = 384;
const SECONDS = size(2, 20);

let dir: string;
let engine: FakeEngine;
let shim: DockershimProcess;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-hostile-shim-"));
  engine = await FakeEngine.start();
  const { State, Mounts: _mounts, ...rest } = CONTAINER;
  const one = { ...rest, Names: [CONTAINER.Name], ImageID: CONTAINER.Image, Created: 1, State: State.Status };
  const labels = { "io.kubernetes.docker.type": "container" };
  const containers = JSON.stringify(Array.from({ length: 500 }, () => ({ ...one, Labels: labels })));
  engine.answer("/containers/json", (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(containers);
  });
  engine.answer("/info", json({ CgroupDriver: "cgroupfs", DockerRootDir: "/docker", ServerVersion: "20" }));
  shim = await DockershimProcess.start(dir, engine.socket);
});
after(async () => {
  await shim[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

/** An honest client asks again and again while `attack` runs. */
async function beside(t: TestContext, attack: (isOver: () => boolean) => Promise<string>): Promise<void> {
  const restarts = shim.restarts;
  const before = (await usageOf(shim.pid)).rssMiB;
  const state = { isOver: false };
  let slowest = 0;
  let calls = 0;
  const report: string[] = [];
  const honest = (async () => {
    while (!state.isOver) {
      const begun = performance.now();
      await shim.version();
      slowest = Math.max(slowest, performance.now() - begun);
      calls++;
      await sleep(50);
    }
  })();
  const end = setTimeout(() => (state.isOver = true), SECONDS * 1000);
  try {
    const [did] = await Promise.all([attack(() => state.isOver).finally(() => (state.isOver = true)), honest]);
    report.push(did);
  } finally {
    state.isOver = true;
    clearTimeout(end);
  }
  await shim.version();
  const { rssMiB } = await usageOf(shim.pid);
  t.diagnostic(
    `${report.join("")}; ${calls} honest calls, the slowest ${Math.round(slowest)} ms; RSS ${before} → ${rssMiB} MiB; ` +
      `${shim.restarts - restarts} restarts`,
  );
  assert.ok(!shim.hasEnded, shim.log.slice(-2000));
  assert.equal(shim.restarts, restarts, shim.log.slice(-2000));
  assert.ok(rssMiB < before + GROWTH_MIB, `${before} → ${rssMiB} MiB`);
}

const openOnce = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(shim.socket).on("error", reject);
    socket.once("connect", () => resolve(socket.on("error", () => undefined)));
  });

/** While the queue of the listening socket is full, connect(2) of a unix socket gives EAGAIN. */
async function open(): Promise<Socket> {
  for (;;) {
    try {
      return await openOnce();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      await sleep(5);
    }
  }
}

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** A frame of HTTP/2: length, type, flags, stream. */
function frame(type: number, flags: number, stream: number, payload: Buffer, length = payload.length): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
const SETTINGS = frame(4, 0, 0, Buffer.alloc(0));

describe("the dockershim's CRI socket", () => {
  test("bears floods of calls", async (t) => {
    await beside(t, async (isOver) => {
      let [answered, refused] = [0, 0];
      const lanes = Array.from({ length: 50 }, async () => {
        while (!isOver()) {
          await shim.call(RuntimeServiceService.listContainers, { filter: undefined }).then(
            () => answered++,
            () => refused++,
          );
        }
      });
      await Promise.all(lanes);
      return `${answered} lists of 500 containers, ${refused} refused`;
    });
  });

  test("refuses requests of megabytes, also of millions of empty messages", async (t) => {
    await beside(t, async (isOver) => {
      // Field 1 of CreateContainerRequest is a text, field 2 a message; both are repeated here.
      const bombs = [Buffer.alloc(7 * MIB, Buffer.from([0x12, 0])), Buffer.alloc(7 * MIB, "x"), Buffer.alloc(20 * MIB)];
      // Field 7 of ContainerConfig, a list of mounts, within field 2.
      const mounts = Buffer.alloc(7 * MIB, Buffer.from([0x3a, 0]));
      const config = Buffer.alloc(5);
      let at = 0;
      for (let rest = mounts.length; ; rest >>>= 7) {
        config[at++] = rest > 127 ? (rest & 127) | 128 : rest;
        if (rest <= 127) break;
      }
      bombs.push(Buffer.concat([Buffer.from([0x12]), config.subarray(0, at), mounts]));
      let sent = 0;
      while (!isOver() || sent < bombs.length) {
        const bomb = bombs[sent++ % bombs.length];
        const method = RuntimeServiceService.createContainer;
        const empty = { podSandboxId: "", config: undefined, sandboxConfig: undefined };
        await assert.rejects(shim.call(method, empty, bomb));
      }
      return `${sent} requests of 7 to 20 MiB`;
    });
  });

  test("bears connections that are half open, silent, or send half a frame", async (t) => {
    await beside(t, async (isOver) => {
      const sockets: Socket[] = [];
      const starts = [
        Buffer.alloc(0),
        PREFACE.subarray(0, 10),
        PREFACE,
        Buffer.concat([PREFACE, SETTINGS.subarray(0, 5)]),
      ];
      while (!isOver() && sockets.length < size(500, 4000)) {
        const socket = await open();
        sockets.push(socket);
        socket.write(starts[sockets.length % starts.length] ?? PREFACE);
        // Its side is ended; the kubelet's stays open.
        if (sockets.length % 5 === 0) socket.end();
      }
      while (!isOver()) await sleep(50);
      for (const socket of sockets) socket.destroy();
      return `${sockets.length} connections`;
    });
  });

  test("bears frames that are wrong, and floods of those that are right", async (t) => {
    await beside(t, async (isOver) => {
      const started = Buffer.concat([PREFACE, SETTINGS]);
      const wrong = [
        randomBytes(4096),
        frame(0, 0, 1, Buffer.alloc(10)),
        frame(1, 4, 1, randomBytes(500)),
        frame(4, 0, 0, Buffer.alloc(7)),
        frame(0, 0, 0, Buffer.alloc(0), 16_777_215),
        Buffer.concat(Array.from({ length: 2000 }, () => frame(6, 0, 0, Buffer.alloc(8)))),
        Buffer.concat(Array.from({ length: 2000 }, () => SETTINGS)),
        Buffer.concat([
          frame(1, 0, 1, Buffer.from([0x82])),
          ...Array.from({ length: 500 }, () => frame(9, 0, 1, Buffer.alloc(1000, 0x82))),
        ]),
      ];
      let sent = 0;
      while (!isOver()) {
        const socket = await open();
        socket.end(Buffer.concat([started, wrong[sent++ % wrong.length] ?? started]));
        await sleep(2);
        if (sent % 50 === 0) socket.destroy();
      }
      return `${sent} connections`;
    });
  });

  test("bears messages of gRPC whose length is a lie, and calls that are reset at once", async (t) => {
    await beside(t, async (isOver) => {
      let sent = 0;
      const headers = {
        ":method": "POST",
        ":path": "/runtime.v1.RuntimeService/ListContainers",
        ":authority": "localhost",
        "content-type": "application/grpc",
        te: "trailers",
      };
      const lies = [
        Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1]),
        Buffer.from([1, 0, 0, 0, 5, 1, 2, 3, 4, 5]),
        Buffer.from([9, 0, 0, 0, 0]),
        Buffer.from([0, 0, 0]),
        Buffer.from([0, 0, 0, 0, 2, 0x0a, 200]),
      ];
      while (!isOver()) {
        const session = connectHttp2("http://localhost", { createConnection: () => connect(shim.socket) });
        session.on("error", () => undefined);
        for (let at = 0; at < 100; at++) {
          const stream = session.request({ ...headers, ...(at % 7 === 1 ? { "grpc-encoding": "gzip" } : {}) });
          stream.on("error", () => undefined).resume();
          stream.end(lies[at % lies.length]);
          if (at % 3 === 0) stream.close(8);
          sent++;
        }
        await sleep(20);
        session.destroy();
      }
      return `${sent} calls`;
    });
  });

  test("bears followers of events who read nothing", async (t) => {
    await beside(t, async (isOver) => {
      const sessions = Array.from({ length: 20 }, () => {
        const session = connectHttp2("http://localhost", {
          createConnection: () => connect(shim.socket),
          settings: { initialWindowSize: 0 },
        });
        session.on("error", () => undefined);
        for (let at = 0; at < 100; at++) {
          const path = at % 2 === 0 ? "GetContainerEvents" : "StreamContainers";
          const stream = session.request({
            ":method": "POST",
            ":path": `/runtime.v1.RuntimeService/${path}`,
            ...{ "content-type": "application/grpc", te: "trailers" },
          });
          stream.on("error", () => undefined).pause();
          stream.end(Buffer.alloc(5));
        }
        return session;
      });
      while (!isOver()) await sleep(50);
      for (const session of sessions) session.destroy();
      return "20 connections with 100 streams each";
    });
  });
});

describe("a hostile Docker Engine", () => {
  const list = (): Promise<unknown> => shim.call(RuntimeServiceService.listContainers, { filter: undefined });
  const status = (): Promise<unknown> =>
    shim.call(RuntimeServiceService.containerStatus, { containerId: ID, verbose: true });

  test("answers with millions of values, and the call fails", async (t) => {
    const bombs = [
      `[${"[],".repeat(9_000_000)}[]]`,
      `[${"{},".repeat(9_000_000)}{}]`,
      `{"Id":${"[".repeat(9_000_000)}`,
      `[${"1,".repeat(15_000_000)}1]`,
      `{${Array.from({ length: 1_500_000 }, (_, at) => `"k${at}":1`).join()}}`,
      "0".repeat(31 * MIB),
    ];
    await beside(t, async (isOver) => {
      let calls = 0;
      while (!isOver() || calls < 2 * bombs.length) {
        const bomb = bombs[calls % bombs.length];
        const answer: Answer = (_request, response) => {
          response.writeHead(200, { "content-type": "application/json" }).end(bomb);
        };
        engine.answer("/containers/json", answer);
        engine.answer(`/containers/${ID}/json`, answer);
        await assert.rejects(calls++ % 2 === 0 ? list() : status());
      }
      return `${calls} responses of up to 31 MiB`;
    });
  });
});
