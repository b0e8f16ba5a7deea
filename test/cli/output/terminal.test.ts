// No text of a pod, a runtime or a program in a container steers the operator's terminal.

import { deepEqual, doesNotMatch, equal, match, rejects } from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import fc from "fast-check";
import { painter } from "../../../src/cli/output/colour.js";
import { print } from "../../../src/cli/output/print.js";
import { printable } from "../../../src/cli/output/terminal.js";
import { temporaryFolder } from "../../support/sources-kit.js";
import { PLAIN } from "../kit.js";

const OWNED = "\u001b]0;OWNED\u0007\u001b[31m\u009b2J\r\u202eforged";
const STEERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const CLI = join(import.meta.dirname, "../../../src/cli/nodelet.js");

/** The command's whole output, against a kubelet that responds with `status` and `body`. */
async function outputOf(t: TestContext, status: number, body: string, ...args: string[]): Promise<string> {
  const socket = join(await temporaryFolder(t), "s");
  const server = createServer((_request, response) => response.writeHead(status).end(body)).listen(socket);
  t.after(() => server.close());
  await once(server, "listening");
  const run = promisify(execFile)(process.execPath, [CLI, "--socket", socket, "--color", ...args]);
  const { stdout, stderr } = await run.catch((error: unknown) => error as { stdout: string; stderr: string });
  return stdout + stderr;
}

test("an error of the kubelet or of a program in a container is one clean line", async (t) => {
  const output = await outputOf(t, 500, `tar: ${OWNED}\nnodelet: forged line`, "cp", "web:/a", "/tmp/never");
  match(output, /tar: .*OWNED.*forged line/);
  doesNotMatch(output, STEERS);
  equal(output.split("\n").filter((line) => line.startsWith("nodelet: forged")).length, 0);
});

test("output that cannot be written is a failure of one line", async () => {
  const run = promisify(execFile)("sh", ["-c", `"$0" "$1" --help >/dev/full`, process.execPath, CLI]);
  await rejects(run, {
    code: 1,
    stderr: "nodelet: cannot write the output: ENOSPC: no space left on device, write\n",
  });
});

test("a wrong argument is repeated without its control characters", async (t) => {
  const output = await outputOf(t, 500, "", `bad${OWNED}`);
  match(output, /unknown command/);
  doesNotMatch(output, STEERS);
});

test("property: nothing but lines, tabs and the painter's colours passes; without colours, none of them", () => {
  const paint = painter(true);
  const part = fc.oneof(fc.string({ unit: "binary" }), fc.constant(OWNED), fc.constant(paint("red", "x")));
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const text = parts.join("");
      doesNotMatch(printable(text, true).replaceAll(/\u001b\[\d+m/g, ""), STEERS);
      doesNotMatch(printable(text, false), STEERS);
    }),
  );
  equal(printable(`${paint("green", "a")}\n\tb`, true), `${paint("green", "a")}\n\tb`);
});

test("JSON loses nothing: its control characters are escapes", async () => {
  let text = "";
  const data = { message: OWNED };
  await print({ ...PLAIN, format: "json", write: (part: string) => (text += part) } as never, data, () => "");
  doesNotMatch(text, STEERS);
  deepEqual(JSON.parse(text), data);
  equal(printable(text, false), text);
});

test("only the file that cleans texts, the user's own logs and exec streams write to the terminal", () => {
  const root = join(import.meta.dirname, "../../../../src/cli");
  const writers = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) =>
      file.endsWith(".ts") &&
      /process\.std(out|err)(?!\.(isTTY|columns|rows|on\())|console\./.test(readFileSync(join(root, file), "utf8")),
  );
  deepEqual(writers.sort(), ["commands/exec.ts", "commands/logs.ts", "output/terminal.ts"]);
});
