// /logs: files of the log folder, and services' logs where they may be asked for.

import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { journalArguments, serviceLogs } from "../../../../../src/workers/server/logs/node/journal.js";
import { pathBelow } from "../../../../../src/workers/server/logs/node/log-file.js";
import { nodeLogQuery } from "../../../../../src/workers/server/logs/node/query.js";
import { canHang, HungMounts } from "../../../../support/hung-mounts.js";
import { SteppedClock } from "../../../../support/stepped-clock.js";
import { Certificates, SecurePort, type SecurePortOptions } from "../../ports/secure-port-kit.js";

let certificates: Certificates;
let folder: string;
before(async () => {
  certificates = await Certificates.create();
  folder = join(certificates.dir, "log");
  await mkdir(join(folder, "pods", "a b"), { recursive: true });
  await writeFile(join(certificates.dir, "secret"), "secret\n");
  await writeFile(join(folder, "sys.log"), "line one\nline two\n");
  await utimes(join(folder, "sys.log"), 1_700_000_000, 1_700_000_000);
  await writeFile(join(folder, "wtmp"), Buffer.of(0, 1, 2, 3));
  await writeFile(join(folder, "a<b>:c"), "");
  await writeFile(join(folder, "svc.log"), "of the service\n");
  await symlink(join(certificates.dir, "secret"), join(folder, "linked.log"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
});
after(() => certificates.remove());

let server: SecurePort | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});
const open = async (init: SecurePortOptions["init"] = {}): Promise<SecurePort> => {
  const opened = await new SecurePort(certificates).open({ init, logDirectory: folder });
  server = opened;
  return opened;
};

describe("files", () => {
  test("are listed, with their names made safe", async () => {
    const { status, headers, body } = await (await open()).ask("/logs/");
    deepEqual([status, headers["content-type"]], [200, "text/html; charset=utf-8"]);
    match(body, /^<!doctype html>\n<meta [^>]*>\n<pre>\n/);
    ok(body.includes('<a href="./a%3Cb%3E:c">a&lt;b&gt;:c</a>\n'), body);
    ok(body.includes('<a href="pods/">pods/</a>\n'), body);
  });

  test(
    "a folder with too many names, and a link to a mount that may hang, are refused with the reason",
    { skip: !canHang, timeout: 120_000 },
    async () => {
      const wide = join(certificates.dir, "wide");
      await mkdir(wide);
      for (let index = 0; index <= 10_000; index++) await writeFile(join(wide, `${index}`), "");
      await symlink(wide, join(folder, "wide"));
      const mounts = new HungMounts();
      try {
        await mounts.hang(join(certificates.dir, "hung"));
        await symlink(join(certificates.dir, "hung"), join(folder, "hung"));
        const opened = await open();
        for (const [path, reason] of [
          ["wide/", /more than 10000 entries/],
          ["hung/", /may not respond/],
          ["hung/file", /may not respond/],
        ] as const) {
          const { status, body } = await opened.ask(`/logs/${path}`);
          equal(status, 500, path);
          match(body, reason);
        }
      } finally {
        await mounts.releaseAll();
        await rm(join(folder, "hung"));
        await rm(join(folder, "wide"));
      }
    },
  );

  test("are shown, whole and in parts", async () => {
    const { ask } = { ask: (await open()).ask.bind(server) };
    const whole = await ask("/logs/sys.log");
    deepEqual([whole.status, whole.body], [200, "line one\nline two\n"]);
    equal(whole.headers["content-type"], "text/plain; charset=utf-8");
    equal(whole.headers["last-modified"], "Tue, 14 Nov 2023 22:13:20 GMT");
    const part = await ask("/logs/sys.log", { headers: { range: "bytes=5-7" } });
    deepEqual([part.status, part.body, part.headers["content-range"]], [206, "one", "bytes 5-7/18"]);
    equal((await ask("/logs/sys.log", { headers: { range: "bytes=18-" } })).status, 416);
    const since = { "if-modified-since": "Tue, 14 Nov 2023 22:13:20 GMT" };
    equal((await ask("/logs/sys.log", { headers: since })).status, 304);
    equal((await ask("/logs/wtmp")).headers["content-type"], "application/octet-stream");
    equal((await ask("/logs/linked.log")).body, "secret\n", "links are followed, as upstream follows them");
  });

  test("end in / when they are folders", async () => {
    const { ask } = { ask: (await open()).ask.bind(server) };
    for (const [path, status, location] of [
      ["/logs/pods", 301, "pods/"],
      ["/logs/pods/a%20b", 301, "a%20b/"],
      ["/logs/sys.log/", 301, "../sys.log"],
      ["/logs/pods/", 200, undefined],
      ["/logs", 307, "/logs/"],
    ] as const) {
      const answer = await ask(path);
      deepEqual([answer.status, answer.headers.location], [status, location], path);
    }
  });

  test("paths outside of the folder, and other kinds of files, are NotFound", async () => {
    const { ask } = { ask: (await open()).ask.bind(server) };
    for (const path of [
      "..%2fsecret",
      "%2e%2e/secret",
      "pods/%2e%2e%2f%2e%2e%2fsecret",
      "..\\secret",
      "sys.log%00",
      "nothing",
      "pipe",
    ]) {
      const { status, body } = await ask(`/logs/${path}`);
      equal(status, 404, path);
      ok(!body.includes("secret"), path);
    }
    for (const path of ["../secret", "pods/../../secret", "....//secret"]) {
      const { status, headers } = await ask(`/logs/${path}`);
      equal(status, 307, path);
      ok(["/secret", "/logs/..../secret"].includes(headers.location ?? ""), headers.location);
    }
    equal((await ask("/logs/sys.log", { method: "POST" })).status, 405);
  });

  test("no path climbs out", () => {
    const part = fc.oneof(fc.constantFrom("..", ".", "", "a", "...", "..\\"), fc.string());
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const full = pathBelow("/var/log", parts.join("/"));
        return full === undefined || full === "/var/log" || full.startsWith("/var/log/");
      }),
    );
  });
});

test("the handler can be off", async () => {
  const { status, body } = await (await open({ enableSystemLogHandler: false })).ask("/logs/sys.log");
  deepEqual([status, body], [405, "logs endpoint is disabled.\n"]);
});

describe("the query", () => {
  const read = (query: string): unknown => nodeLogQuery(new URLSearchParams(query));
  test("the query's parameters become services, files and options", () => {
    equal(read(""), undefined);
    equal(read("tailLines=5"), undefined);
    deepEqual(read("query=kubelet&query=crio&tailLines=5&boot=-1&pattern=a.c&sinceTime=2026-01-01T00:00:00Z"), {
      services: ["kubelet", "crio"],
      files: [],
      options: { tailLines: 5, boot: -1, pattern: "a.c", sinceTime: Date.UTC(2026, 0, 1) },
    });
    deepEqual(read("query=/foo.log"), { services: [], files: ["/foo.log"], options: {} });
  });

  test("is refused: 400 for an unreadable query, 406 for a forbidden one", () => {
    const rows: [query: string, name: string, text: RegExp][] = [
      ["query=", "NodeLogParseError", /query cannot be empty/],
      ["query=%20", "NodeLogParseError", /query cannot be empty/],
      ["query=a&sinceTime=now", "NodeLogParseError", /^sinceTime: Invalid value: "now": invalid time format$/],
      ["query=a&boot=x&tailLines=y", "NodeLogParseError", /^\[boot: .*, tailLines: .*\]$/],
      ["query=a&boot=1", "NodeLogInvalidError", /must be less than 1/],
      ["query=a&tailLines=-1", "NodeLogInvalidError", /between 0 and 100000/],
      ["query=a&tailLines=100001", "NodeLogInvalidError", /between 0 and 100000/],
      ["query=a;b", "NodeLogInvalidError", /unsupported characters/],
      [`query=${"a".repeat(257)}`, "NodeLogInvalidError", /length must be less than 256/],
      ["query=a&query=b&query=c&query=d&query=e", "NodeLogInvalidError", /Too many: 5/],
      ["query=a&query=/b", "NodeLogInvalidError", /cannot specify a file and service/],
      ["query=/a&query=/b", "NodeLogInvalidError", /more than one file/],
      ["query=/a&tailLines=1", "NodeLogInvalidError", /cannot specify file with options/],
      ["query=a&pattern=(", "NodeLogInvalidError", /error parsing regexp/],
      ["query=a&sinceTime=2026-01-02T00:00:00Z&untilTime=2026-01-01T00:00:00Z", "NodeLogInvalidError", /must be after/],
    ];
    for (const [query, name, message] of rows) throws(() => read(query), { name, message }, query);
  });

  test("becomes journalctl's options, and nothing else of it does", () => {
    const options = {
      sinceTime: 1_700_000_000_999,
      untilTime: 1_700_000_060_000,
      tailLines: 3,
      pattern: "--x",
      boot: 0,
    };
    deepEqual(journalArguments(["-a", "b"], options), [
      "--utc",
      "--no-pager",
      "--output=short-precise",
      "--since=2023-11-14 22:13:20",
      "--until=2023-11-14 22:14:20",
      "--pager-end",
      "--lines=3",
      "--unit=-a",
      "--unit=b",
      "--grep=--x",
      "--boot",
      "0",
    ]);
  });
});

describe("services", () => {
  let program: string;
  before(async () => {
    program = join(certificates.dir, "journalctl");
    const script = `if [ "$1" = --field ]; then echo kubelet.service; echo slow.service; exit; fi
case "$*" in *slow*) echo begun; exec sleep 60;; esac
echo "asked: $*"; echo complaint >&2`;
    await writeFile(program, `#!/bin/sh\n${script}\n`);
    await chmod(program, 0o755);
  });
  const read = async (
    services: string[],
    options = {},
    clock = new SteppedClock(),
    onText?: () => void,
  ): Promise<string> => {
    let text = "";
    const parts = { logDirectory: folder, clock, program };
    for await (const part of serviceLogs(services, options, parts, new AbortController().signal)) {
      text += Buffer.from(part).toString();
      onText?.();
    }
    equal(clock.pending, 0);
    return text;
  };

  test("a service's lines come from journalctl", async () => {
    equal(
      await read(["kubelet"], { tailLines: 1 }),
      "asked: --utc --no-pager --output=short-precise --pager-end --lines=1 --unit=kubelet\ncomplaint\n",
    );
  });
  test("of files, within the folder only", async () => {
    equal(await read(["svc"]), "of the service\n");
    equal(await read(["linked"]), "\nlog not found for linked\n");
    match(await read(["svc"], { tailLines: 1 }), /^\noptions present and query resolved to log files for \[svc\]/);
  });
  test("a run ends after 30 s", async () => {
    const clock = new SteppedClock();
    equal(await read(["slow"], {}, clock, () => clock.step(30_000)), "begun\n");
  });
  test("over HTTP, gzipped for clients that accept it", async () => {
    const opened = await open({ enableSystemLogQuery: true });
    const plain = await opened.ask("/logs/?query=no-such-service");
    deepEqual([plain.status, plain.headers["content-type"]], [200, "text/plain;charset=UTF-8"]);
    equal(plain.body, "\nlog not found for no-such-service\n");
    equal((await opened.ask("/logs/?query=/sys.log")).body, "line one\nline two\n");
    equal((await opened.ask("/logs/sys.log")).body, "line one\nline two\n");
    deepEqual((await opened.ask("/logs/?query=")).status, 400);
    deepEqual((await opened.ask("/logs/?query=a&boot=3")).status, 406);
    const zipped = await opened.ask("/logs/?query=svc", { headers: { "accept-encoding": "gzip" } }, "latin1");
    equal(zipped.headers["content-encoding"], "gzip");
    equal(gunzipSync(Buffer.from(zipped.body, "latin1")).toString(), "of the service\n");
  });
});
