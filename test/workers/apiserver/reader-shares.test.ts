// Readers of the API who take all that they can get: connections, logs, requests and time. An administrator is served.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { after, afterEach, before, describe, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { READER_REFUSALS, READER_SHARE, READER_STREAMS } from "../../../src/workers/apiserver/doors/reader-share.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { ApiPort } from "./api-port-kit.js";

type Pair = Awaited<ReturnType<ApiPort["client"]>>;

const MAPS = "/api/v1/namespaces/default/configmaps";
const LOG = "/api/v1/namespaces/default/pods/web/log?follow=true";
const pod = {
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "web" } },
  spec: { containers: [{ name: "app", image: "busybox" }] },
};

describe("readers of the API", () => {
  let api: ApiPort;
  let admin: Pair;
  let reader: Pair;
  const sessions = new Set<ClientHttp2Session>();
  const sockets = new Set<TLSSocket>();

  before(async () => {
    api = await ApiPort.open();
    [admin, reader] = [await api.client("admin"), await api.client("reader")];
    equal((await api.ask(admin, "POST", "/api/v1/namespaces/default/pods", pod)).status, 201);
  });
  afterEach(() => {
    for (const one of [...sessions, ...sockets]) one.destroy();
    sessions.clear();
    sockets.clear();
  });
  after(async () => {
    await api[Symbol.asyncDispose]();
  });

  const newSession = (pair: Pair): ClientHttp2Session => {
    const session = connectHttp2(`https://127.0.0.1:${api.port}`, { ca: api.ca, ...pair });
    sessions.add(session.on("error", () => undefined));
    return session;
  };
  /** The status, when the head of the response is here. Undefined: the stream ended without one. */
  const statusOf = (session: ClientHttp2Session, path: string, onEnd?: () => void): Promise<number | undefined> => {
    const stream = session.request({ ":path": path });
    stream.on("error", () => undefined).resume();
    if (onEnd !== undefined) stream.once("end", onEnd);
    return new Promise((resolve) => {
      stream.once("response", (headers) => resolve(Number(headers[":status"])));
      stream.once("close", () => resolve(undefined));
    });
  };
  /** A connection that stays open, and the head of its response. */
  const keptAlive = async (pair: Pair, path: string): Promise<{ socket: TLSSocket; text: string }> => {
    const socket = api.connect(pair);
    sockets.add(socket.on("error", () => undefined));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const text = await new Promise<string>((resolve) => {
      socket.once("data", (part: Buffer) => resolve(part.toString("latin1")));
      socket.once("close", () => resolve("closed"));
    });
    return { socket, text };
  };

  test("have a share of the logs, and an administrator reads one beside them", async () => {
    api.answer = (response) => response.write("a line\n");
    const statuses: (number | undefined)[] = [];
    for (let open = 0; open < READER_SHARE.logs; open += READER_STREAMS) {
      const session = newSession(reader);
      statuses.push(...(await Promise.all(Array.from({ length: READER_STREAMS }, () => statusOf(session, LOG)))));
    }
    deepEqual(statuses, Array<number>(READER_SHARE.logs).fill(200));
    const beyond = await api.ask(reader, "GET", LOG);
    equal(beyond.status, 429);
    match(beyond.text, /readers have 32 logs already/);
    equal(await statusOf(newSession(admin), LOG), 200);
    api.answer = (response) => response.end("the end\n");
    const [first] = sessions;
    first?.destroy();
    await waitFor(async () => (await api.ask(reader, "GET", LOG)).status === 200, { what: "a place for a log" });
  });

  test("have a share of the connections, and an administrator connects beside them", { timeout: 120_000 }, async () => {
    let opened = 0;
    while (opened < READER_SHARE.connections) {
      const batch = await Promise.all(Array.from({ length: 16 }, () => keptAlive(reader, "/version")));
      for (const { text } of batch) match(text, /^HTTP\/1\.1 200 /);
      opened += batch.length;
    }
    const beyond = await keptAlive(reader, "/version");
    match(beyond.text, /^HTTP\/1\.1 429 [^]*readers have 256 connections already/);
    equal((await api.ask(admin, "GET", "/version")).status, 200);
    const [first] = sockets;
    first?.destroy();
    await waitFor(async () => (await keptAlive(reader, "/version")).text.startsWith("HTTP/1.1 200 "), {
      what: "a place for a connection",
    });
  });

  test("lose a connection with its last refused request; an administrator does not", { timeout: 60_000 }, async () => {
    const ask = "GET /api/v1/namespaces/default/secrets/none HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const last = ask.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    const count = (text: string, status: number): number => text.split(`HTTP/1.1 ${status} `).length - 1;
    // The first request is authorised. The server closes the connection.
    const ofReader = await api.raw(ask.replace("/secrets/none", "/pods/web") + ask.repeat(READER_REFUSALS), reader);
    deepEqual([count(ofReader, 200), count(ofReader, 403)], [1, READER_REFUSALS]);
    const ofAdmin = await api.raw(ask.repeat(READER_REFUSALS) + last, admin);
    equal(count(ofAdmin, 404), READER_REFUSALS + 1);
  });

  test("have few requests in progress on one connection, and an administrator has many", async () => {
    const limitOf = async (pair: Pair): Promise<number | undefined> => {
      const session = newSession(pair);
      equal(await statusOf(session, "/version"), 200);
      return session.remoteSettings.maxConcurrentStreams;
    };
    equal(await limitOf(reader), READER_STREAMS);
    equal(await limitOf(admin), 250);
  });

  test("who send lists without end delay an administrator by few of them", { timeout: 120_000 }, async () => {
    for (let index = 0; index < 40; index++) {
      const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `large-${index}` } };
      const data = { value: `"${"x\n".repeat(50_000)}` };
      equal((await api.ask(admin, "POST", MAPS, { ...map, data })).status, 201);
    }
    const administrator = newSession(admin);
    equal(await statusOf(administrator, "/version"), 200);
    const crowd = Array.from({ length: 3 }, () => newSession(reader));
    for (const session of crowd) equal(await statusOf(session, "/version"), 200);
    const answered: (number | undefined)[] = [];
    const first = new Promise<void>((resolve) => {
      for (const session of crowd) {
        for (let index = 0; index < READER_STREAMS; index++) {
          void statusOf(session, MAPS).then((status) => {
            answered.push(status);
            resolve();
          });
        }
      }
    });
    await first;
    equal(await statusOf(administrator, `${MAPS}/large-0`), 200);
    ok(answered.length < 3 * READER_STREAMS, `${answered.length} lists went before`);
  });
});
