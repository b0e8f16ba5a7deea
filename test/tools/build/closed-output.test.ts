// A reader of a command's output may have enough of it: `npm run docs | head`.

import { equal, match } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const CLOSED_OUTPUT = new URL("../../../../tools/build/closed-output.mjs", import.meta.url).href;

/** A child that writes lines until the kernel says that the reader is gone, and then does its last work. */
const WRITER = `
  import { writeSync } from "node:fs";
  import { outliveReaders } from "${CLOSED_OUTPUT}";
  outliveReaders();
  let failed = false;
  process.stdout.on("error", () => (failed = true));
  const timer = setInterval(() => {
    console.log("a line");
    if (!failed) return;
    clearInterval(timer);
    writeSync(2, "finished");
  }, 1);`;

test("a command whose output is closed goes on to its end, with status 0 and without a stack", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", WRITER], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, "exit") as Promise<[number]>]);
  equal(stderr, "finished");
  equal(status, 0);
});

test("another error of the output ends the command", async () => {
  const script = `
    import { outliveReaders } from "${CLOSED_OUTPUT}";
    outliveReaders();
    process.stdout.emit("error", Object.assign(new Error("no space is left"), { code: "ENOSPC" }));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, "exit") as Promise<[number]>]);
  match(stderr, /no space is left/);
  equal(status, 1);
});
