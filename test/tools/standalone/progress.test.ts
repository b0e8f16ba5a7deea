// What a user sees while npm and apt work.
// @promise Packages and documents: `npm start` shows which package npm and apt-get are at.

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../../tools/standalone/exec.js";
import { noteApt } from "../../../tools/standalone/packages.js";
import { step } from "../../../tools/standalone/progress.js";

const NPM_NOTES = new URL("../../../../tools/build/npm-notes.mjs", import.meta.url).href;

test("a step shows the newest of its notes, cut to the terminal's width", async () => {
  const written: string[] = [];
  let redrawn: () => void = () => undefined;
  const sink = {
    isTTY: true,
    columns: 30,
    write: (text: string) => {
      written.push(text);
      if (text.includes("second")) redrawn();
    },
  };
  const seen = new Promise<void>((resolve) => (redrawn = resolve));
  const result = await step(
    "work",
    async (note) => {
      note("first");
      note(`second ${"long ".repeat(20)}`);
      await seen;
      return 7;
    },
    sink,
  );
  assert.equal(result, 7);
  const line = written.find((text) => text.includes("second"))!;
  assert.match(line, /^\r\u001b\[K {2}… work \d\.\d s: second/);
  assert.equal(line.replace("\r\u001b[K", "").length, 29);
  assert.doesNotMatch(written.join(""), /first/);
});

test("apt-get's lines say which package it fetches, unpacks and sets up", () => {
  const notes: string[] = [];
  for (const line of [
    "Get:1 http://deb.debian.org/debian bookworm InRelease [151 kB]",
    "Get:3 http://deb.debian.org/debian bookworm/main amd64 containerd amd64 1.6.20~ds1-1+deb12u1 [25.9 MB]",
    "Fetched 31.6 MB in 1s (24.1 MB/s)",
    "Preparing to unpack .../runc_1.1.5_amd64.deb ...",
    "Unpacking runc (1.1.5+ds1-1+deb12u1) ...",
    "Setting up containerd (1.6.20~ds1-1+deb12u1) ...",
  ]) {
    noteApt(line, (text) => notes.push(text));
  }
  assert.deepEqual(notes, [
    "fetching 1: bookworm",
    "fetching 3: containerd",
    "preparing to unpack .../runc_1.1.5_amd64.deb",
    "unpacking runc (1.1.5+ds1-1+deb12u1)",
    "setting up containerd",
  ]);
});

test("npm's log says how many packages came, and which was the last", async () => {
  const { npmNotes } = (await import(NPM_NOTES)) as {
    npmNotes: () => (line: string) => { note?: string; noise?: boolean };
  };
  const read = npmNotes();
  assert.equal(
    read("npm http fetch GET 200 https://registry.npmjs.org/ws 9ms (cache miss)").note,
    "0 fetched, last ws",
  );
  assert.deepEqual(
    read("npm http fetch GET 200 https://registry.npmjs.org/@types%2fnode/-/node-20.1.0.tgz 90ms (cache miss)"),
    {
      note: "1 fetched, last @types/node",
      noise: true,
    },
  );
  assert.equal(
    read("npm http cache pino@https://registry.npmjs.org/pino/-/pino-10.4.0.tgz 0ms (cache hit)").note,
    "2 fetched, last pino",
  );
  assert.equal(read("npm http fetch GET 404 https://registry.npmjs.org/none 9ms").note, undefined);
  assert.equal(read("npm error code E404").noise, false);
});

test("lines of a tool come while it runs, and all of its output at the end", async () => {
  const lines: string[] = [];
  const text = await run("sh", ["-c", "echo one; echo two"], { onLine: (line) => lines.push(line) });
  assert.deepEqual([text, lines], ["one\ntwo\n", ["one", "two"]]);
});
