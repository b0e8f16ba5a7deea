// /containerLogs: the selected run, and errors with their text.

import { deepEqual, equal, match, throws } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, readdir, readFile, stat, symlink } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import type { ApiContainerStatus, ContainerState } from "../../../../../src/shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../../../src/shared/kubernetes/api/pod.js";
import { logQuery } from "../../../../../src/workers/server/logs/pods/log-query.js";
import { runOf } from "../../../../../src/workers/server/logs/pods/run-of-container.js";
import { recordText, writeLog } from "../../../../support/log-kit.js";
import { showPods } from "../../../../support/pod-list.js";
import { pod } from "../../../../support/pods.js";
import { until } from "../../../../support/sources-kit.js";
import { Certificates, SecurePort, type SecurePortOptions } from "../../ports/secure-port-kit.js";

const RUNNING: ContainerState = { running: {} };
const ended = (containerID?: string): ContainerState => ({
  terminated: { exitCode: 0, ...(containerID === undefined ? {} : { containerID }) },
});

function status(state: ContainerState, lastState: ContainerState = {}, restartCount = 0): ApiContainerStatus {
  return { name: "app", state, lastState, restartCount, ready: false, image: "", imageID: "" };
}

describe("the run that is shown", () => {
  const rows: [state: ContainerState, last: ContainerState, count: number, run: unknown, previous: unknown][] = [
    [RUNNING, {}, 0, 0, /^previous terminated container "app" in pod "web" not found$/],
    [RUNNING, ended("c://1"), 2, 2, 1],
    [ended("c://2"), {}, 0, 0, /^previous/],
    [ended("c://2"), ended("c://1"), 1, 1, 0],
    [{ waiting: { reason: "CrashLoopBackOff" } }, ended("c://2"), 3, 3, 3],
    [ended(), ended("c://2"), 3, 3, 3],
    [ended(), {}, 0, /^container "app" in pod "web" is terminated$/, /^previous/],
    [{ waiting: {} }, {}, 0, /^container "app" in pod "web" is waiting to start - no logs yet$/, /^previous/],
    [{ waiting: { reason: "ContainerCreating" } }, {}, 0, /waiting to start: ContainerCreating$/, /^previous/],
    [{ waiting: { reason: "ErrImagePull" } }, {}, 0, /start: image can't be pulled$/, /^previous/],
    [{ waiting: { reason: "ImagePullBackOff" } }, {}, 0, /start: trying and failing to pull image$/, /^previous/],
  ];
  for (const [state, last, count, run, previous] of rows) {
    test(`${JSON.stringify(state)} after ${JSON.stringify(last)}`, () => {
      for (const [wanted, isPrevious] of [
        [run, false],
        [previous, true],
      ] as const) {
        const ask = (): number => runOf("web", "app", status(state, last, count), isPrevious);
        if (wanted instanceof RegExp) throws(ask, { name: "NoLogError", message: wanted });
        else equal(ask(), wanted);
      }
    });
  }
  test("of a container without a status", () => {
    throws(() => runOf("web", "app", undefined, false), { message: 'container "app" in pod "web" is not available' });
  });
});

test("the query is read as upstream reads it", () => {
  const off = { follow: false, previous: false, timestamps: false };
  const amounts = { sinceSeconds: undefined, limitBytes: undefined, tailLines: undefined };
  const none = { ...amounts, sinceTime: undefined, stream: undefined };
  const rows: [query: string, options: object][] = [
    ["", {}],
    ["follow&previous=1&timestamps=true", { follow: true, previous: true, timestamps: true }],
    ["follow=FALSE&previous=0&timestamps=no", { timestamps: true }],
    ["tailLines=5&limitBytes=-3&sinceSeconds=%2B4", { tailLines: 5, limitBytes: -3, sinceSeconds: 4 }],
    ["tailLines=5&tail=7", { tailLines: 7 }],
    ["tailLines=5&tail=all", {}],
    ["tailLines=9223372036854775807", { tailLines: Number.MAX_SAFE_INTEGER }],
    [
      "sinceTime=2026-01-02T03:04:05%2B01:00&stream=Stdout",
      { sinceTime: "2026-01-02T03:04:05+01:00", stream: "Stdout" },
    ],
    ["sinceTime=", {}],
    ["stream=", { stream: "" }],
    ["sinceTime=null", {}],
    ["tailLines=000000000000000000000007", { tailLines: 7 }],
  ];
  for (const [query, options] of rows) {
    deepEqual(logQuery(new URLSearchParams(query)), { ...off, ...none, ...options }, query);
  }
  for (const query of [
    "tailLines=x",
    "limitBytes=1.5",
    "sinceSeconds=1e3",
    "sinceTime=yesterday",
    "tail=-",
    "tailLines=",
    "sinceSeconds=9223372036854775808",
  ]) {
    throws(() => logQuery(new URLSearchParams(query)), { name: "LogQueryError" }, query);
  }
});

describe("GET /containerLogs", () => {
  let certificates: Certificates;
  let server: SecurePort;
  let logs: string;
  const PATH = "/containerLogs/default/web/app";
  const line = (text: string, stream: "stdout" | "stderr" = "stdout"): string =>
    recordText({ stream, tag: "F", text, second: 1_700_000_000 });

  before(async () => {
    certificates = await Certificates.create();
    logs = await writeLog(join(certificates.dir, "pods", "default_web_uid-web"), [
      { text: line("one") + line("oops", "stderr") + line("two") },
    ]);
  });
  after(() => certificates.remove());
  afterEach(() => server.close());

  const web = (state: ContainerState): Pod => ({
    ...pod(),
    status: { phase: "Running", containerStatuses: [status(state)] },
  });
  async function open(
    state: ContainerState = RUNNING,
    init: SecurePortOptions["init"] = {},
    more: SecurePortOptions = {},
  ): Promise<void> {
    server = await new SecurePort(certificates).open({ init, ...more });
    showPods(server.pods, [web(state)]);
  }
  /** Resolves with the headers of its response. */
  async function follow(path: string): Promise<IncomingMessage> {
    const ca = certificates.ca.pair.cert;
    const sent = request({ host: "127.0.0.1", port: server.port, ca, path: `${path}?follow=1`, agent: false }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return response.on("error", () => undefined).resume();
  }
  async function ask(query = "", path = PATH): Promise<[number, string]> {
    const { status: code, body } = await server.ask(`${path}${query}`);
    return [code, body];
  }

  test("shows the log, with the options of the query", async () => {
    await open();
    deepEqual(await ask(), [200, "one\noops\ntwo\n"]);
    deepEqual(await ask("?tailLines=1&timestamps=1"), [200, "2023-11-14T22:13:20.000000000Z two\n"]);
    deepEqual(await ask("?limitBytes=2"), [200, "on"]);
    equal((await server.ask(PATH)).headers["transfer-encoding"], "chunked");
  });

  test("refuses in upstream's words", async () => {
    await open();
    const invalid = [422, '{"message": "Invalid request."}'];
    deepEqual(await ask("?tailLines=x"), [400, '{"message": "Unable to decode query."}']);
    for (const query of [
      "tailLines=-1",
      "limitBytes=0",
      "sinceSeconds=0",
      "stream=Both",
      "stream=",
      "tailLines=1&stream=Stdout",
    ]) {
      deepEqual(await ask(`?${query}`), invalid, query);
    }
    deepEqual(await ask("?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z"), invalid);
    const [code, text] = await ask("?stream=Stderr");
    equal(code, 400);
    match(text, /^unable to return the given log stream: "Stderr". Please enable PodLogsQuerySplitStreams/);
    deepEqual(await ask("", "/containerLogs/default/nobody/app"), [404, 'pod "nobody" does not exist']);
    deepEqual(await ask("", "/containerLogs/default/web/x"), [404, 'container "x" not found in pod "web"']);
    deepEqual(await ask("?previous=true"), [400, 'previous terminated container "app" in pod "web" not found']);
    for (const path of ["/containerLogs/default/..%2f..%2fetc/app", "/containerLogs/default/web/..%2f..%2fapp"]) {
      equal((await ask("", path))[0], 404, path);
    }
    equal((await server.ask(PATH, { method: "POST" })).status, 405);
  });

  test("of a rejected pod are not available: its definition was dropped, and no container has a status", async () => {
    await open();
    const { metadata } = pod({}, "refused", "uid-refused");
    const failed = { phase: "Failed", reason: "OutOfcpu" } as const;
    showPods(server.pods, [{ ...pod(), metadata, spec: { containers: [] }, status: failed }]);
    const text = 'container "app" in pod "refused" is not available';
    const path = "/containerLogs/default/refused/app";
    deepEqual(await ask("", path), [400, text]);
    // As upstream, which decides on the body before it fails.
    const { headers } = await server.ask(path);
    deepEqual([headers["content-type"], headers["transfer-encoding"]], [undefined, "chunked"]);
  });

  test("a planted log gets status 500 with the reason, also for a follower", { timeout: 60_000 }, async () => {
    await open();
    for (const [at, plant] of [
      ["link", (path: string) => symlink(join(logs, "app", "0.log"), path)],
      ["fifo", (path: string) => void execFileSync("mkfifo", [path])],
    ] as const) {
      const folder = join(certificates.dir, "pods", `default_${at}_uid-${at}`, "app");
      await mkdir(folder, { recursive: true });
      await plant(join(folder, "0.log"));
      const planted = pod({}, at, `uid-${at}`);
      showPods(server.pods, [{ ...planted, status: { phase: "Running", containerStatuses: [status(RUNNING)] } }]);
      for (const query of ["", "?follow=1"]) {
        const [code, text] = await ask(query, `/containerLogs/default/${at}/app`);
        equal(code, 500, text);
        match(text, /, not a regular file/);
      }
    }
  });

  test("one stream, with its gate", async () => {
    await open(RUNNING, {
      gates: {
        podLogsQuerySplitStreams: true,
        containerCheckpoint: false,
        componentFlagz: false,
        componentStatusz: false,
        extendWebSocketsToKubelet: false,
      },
    });
    deepEqual(await ask("?stream=Stderr"), [200, "oops\n"]);
  });

  test("a follower gets new lines, and ends when the container does", async () => {
    await open();
    const sent = request({
      host: "127.0.0.1",
      port: server.port,
      ca: certificates.ca.pair.cert,
      path: `${PATH}?follow=1&tailLines=1`,
    }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.setEncoding("utf8");
    let text = "";
    response.on("data", (part: string) => (text += part));
    await until(() => text === "two\n");
    await appendFile(join(logs, "app", "0.log"), line("three"));
    await until(() => text === "two\nthree\n");
    await appendFile(join(logs, "app", "0.log"), line("four"));
    showPods(server.pods, [web(ended("c://1"))]);
    await once(response, "end");
    equal(text, "two\nthree\nfour\n");
  });

  test("a follower ends when its pod goes before a status of the container's end", { timeout: 60_000 }, async () => {
    await open();
    const response = await follow(PATH);
    showPods(server.pods, []);
    await once(response, "end");
  });

  test("followers of one pod have half of the node's places; an end makes room", async () => {
    await open(RUNNING, {}, { limits: { followers: 8 } });
    const running = status(RUNNING);
    const other = pod({}, "other", "uid-other");
    showPods(server.pods, [web(RUNNING), { ...other, status: { phase: "Running", containerStatuses: [running] } }]);
    await writeLog(join(certificates.dir, "pods", "default_other_uid-other"), [{ text: line("one") }]);
    const followers = await Promise.all(Array.from({ length: 4 }, () => follow(PATH)));
    deepEqual(new Set(followers.map(({ statusCode }) => statusCode)), new Set([200]));
    equal((await follow(PATH)).statusCode, 429);
    deepEqual(await ask("?follow=1"), [429, "too many clients follow logs in this pod\n"]);
    equal((await ask("?tailLines=1"))[0], 200, "a client that does not follow needs no place");
    const others = await Promise.all(Array.from({ length: 4 }, () => follow("/containerLogs/default/other/app")));
    deepEqual(new Set(others.map(({ statusCode }) => statusCode)), new Set([200]));
    deepEqual(await ask("?follow=1", "/containerLogs/default/other/app"), [
      429,
      "too many clients follow logs on this node\n",
    ]);
    followers[0]?.destroy();
    let again: IncomingMessage;
    do again = await follow(PATH);
    while (again.statusCode === 429);
    equal(again.statusCode, 200);
    for (const one of [...followers, ...others, again]) one.destroy();
  });

  test("few followers have an inotify instance, half of them in one pod; the others see new lines, too", async () => {
    await open(RUNNING, {}, { limits: { followerWatches: 2 } });
    const inode = (await stat(join(logs, "app"))).ino.toString(16);
    // proc_pid_fdinfo(5): one line per watch, inode in hexadecimal.
    const instances = async (): Promise<number> => {
      const names = await readdir("/proc/self/fdinfo");
      const texts = await Promise.all(
        names.map((name) => readFile(`/proc/self/fdinfo/${name}`, "utf8").catch(() => "")),
      );
      return texts.filter((text) => new RegExp(`^inotify wd:\\S+ ino:${inode} `, "m").test(text)).length;
    };
    const untilNone = (): Promise<void> => until(async () => (await instances()) === 0);
    // Followers of the test before end after their connections.
    await untilNone();
    const followers = await Promise.all([follow(PATH), follow(PATH), follow(PATH)]);
    const seen = followers.map((response) => {
      const lines = { text: "" };
      response.on("data", (part: Buffer) => (lines.text += part.toString()));
      return lines;
    });
    await appendFile(join(logs, "app", "0.log"), line("new line"));
    while (!seen.every(({ text }) => text.endsWith("new line\n")))
      await new Promise((resolve) => setImmediate(resolve));
    equal(await instances(), 1);
    for (const one of followers) one.destroy();
    await untilNone();
  });

  test("a follower that left while its access was reviewed holds no place", async () => {
    const reviews: (() => void)[] = [];
    const create = (): Promise<unknown> =>
      new Promise((resolve) => reviews.push(() => resolve({ status: { allowed: true } })));
    const authorization = { mode: "Webhook", cacheAuthorizedTTLMs: 0, cacheUnauthorizedTTLMs: 0 } as const;
    await open(RUNNING, { authorization }, { create, limits: { followers: 2 } });
    const ca = certificates.ca.pair.cert;
    const sent = request({ host: "127.0.0.1", port: server.port, ca, path: `${PATH}?follow=1`, agent: false }).end();
    sent.on("error", () => undefined);
    const pass = async (): Promise<void> => {
      await until(() => reviews.length > 0);
      for (const answer of reviews.splice(0)) answer();
    };
    await until(() => reviews.length > 0);
    sent.destroy();
    await until(async () => (await server.inflight()) === 0);
    await pass();
    const [later] = await Promise.all([follow(PATH), pass()]);
    equal(later.statusCode, 200);
    later.destroy();
  });
});
