// Stacks of the bundle, whose functions have short names: `nodelet resolve` gives them back, and nothing of a kubelet
// reads the positions or the names.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { Positions } from "../../../src/cli/stacks/positions.js";
import { copyCode } from "../../../tools/install/copy-code.js";
import { KUBELET_NODE_FLAGS } from "../../../tools/standalone/kubelet-process.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");
const AGENT = join(ROOT, "dist/agent");
const POSITIONS = "positions.json.gz";
const NODELET = "agent/cli/nodelet.js";
/** All packages together have room for it; 40 MB is the bound of a .deb. */
const MOST_BYTES = 3_000_000;

/** The code as packages carry it: without maps and caches. */
async function installed(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "nodelet-stacks-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  await copyCode(AGENT, join(folder, "agent"), (path) => !path.endsWith(".cache"));
  return folder;
}

interface Ended {
  stdout: string;
  stderr: string;
}

async function run(args: readonly string[], path = process.env["PATH"]): Promise<Ended> {
  const env = { ...process.env, PATH: path };
  return await promisify(execFile)(process.execPath, args, { env }).catch((error: unknown) => error as Ended);
}

/** The stack of an error in the command, as it stands in a log. */
async function stackOf(folder: string): Promise<string> {
  const throws = join(folder, "throws.cjs");
  await writeFile(throws, 'process.stdout.write = () => { throw new TypeError("planted"); };\n');
  return (await run(["--require", throws, join(folder, NODELET), "completion", "bash"])).stderr;
}

test("the packages' code resolves the stack of an error in it to functions and lines of the sources", async (t) => {
  const folder = await installed(t);
  assert.deepEqual(
    (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".map")),
    [],
  );
  const stderr = await stackOf(folder);
  // A stack in the journal is of use by itself: script, line and column.
  assert.match(stderr, /TypeError: planted\n.*\n {4}at \w+ \(\S+\/agent\/packs\/cli-nodelet-[0-9a-f]{8}\.js:\d+:\d+\)/);
  assert.doesNotMatch(stderr, /writeOut/);
  const stack = join(folder, "stack.txt");
  await writeFile(stack, stderr);
  const { stdout } = await run([join(folder, NODELET), "resolve", stack]);
  const frames = [...stdout.matchAll(/ at (?:async )?([\w.]+) \((src\/[\w/.-]+):(\d+):(\d+)\)/g)];
  const names = frames.map(([, name]) => name);
  assert.deepEqual([names[0], names[1], names.at(-1)], ["writeOut", "completionCommand", "main"]);
  const [, , file = "", line] = frames[0] ?? [];
  const source = (await readFile(join(ROOT, file), "utf8")).split("\n");
  assert.match(source[Number(line) - 1] ?? "", /process\.stdout\.write\(/);
});

test("a support bundle has the stacks of the journal with functions and lines of the sources", async (t) => {
  const folder = await installed(t);
  const stack = join(folder, "stack.txt");
  await writeFile(stack, await stackOf(folder));
  const bin = join(folder, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "journalctl"), `#!/bin/sh\nexec /bin/cat ${stack}\n`, { mode: 0o755 });
  const file = join(folder, "bundle.tar.gz");
  const socket = ["--socket", join(folder, "none")];
  const { stdout } = await run([join(folder, NODELET), ...socket, "support-bundle", "--file", file], bin);
  assert.match(stdout, /kubelet\.log/);
  const text = gunzipSync(await readFile(file)).toString("latin1");
  assert.match(text, /TypeError: planted\n.*\n {4}at writeOut \(src\/cli\/output\/terminal\.ts:\d+:\d+\)/);
  assert.doesNotMatch(text, /packs\/cli-nodelet/);
});

test("the file of positions is small, and has every pack and chunk", async () => {
  assert.ok((await stat(join(AGENT, POSITIONS))).size < MOST_BYTES);
  const positions = await Positions.read(join(AGENT, POSITIONS));
  for (const folder of ["packs", "main/chunks"]) {
    for (const name of (await readdir(join(AGENT, folder))).filter((one) => one.endsWith(".js"))) {
      const lines = (await readFile(join(AGENT, folder, name), "latin1")).split("\n");
      const place = lines.map(({ length }, index) => positions.find(`${folder}/${name}`, index + 1, length));
      // esbuild leaves a chunk without code now and then.
      const isEmpty = lines[1]?.endsWith('"use strict";') === true && lines.length < 6;
      assert.ok(isEmpty || place.some((one) => one !== undefined), `${folder}/${name}`);
    }
  }
});

test("a kubelet reads neither source maps nor positions", async (t) => {
  const files = ["tools/deploy/systemd/kubelet.service", "tools/install/wrappers.ts", "src/main/kubelet.ts"];
  for (const file of files) assert.doesNotMatch(await readFile(join(ROOT, file), "utf8"), /source-maps/, file);
  const scripts = (await readdir(AGENT, { recursive: true })).filter((name) => name.endsWith(".js"));
  const texts = await Promise.all(
    scripts.map(async (name) => [name, await readFile(join(AGENT, name), "utf8")] as const),
  );
  const reads = [`new URL("./${POSITIONS}"`, "setSourceMapsSupport", "setSourceMapsEnabled"];
  const readers = texts.filter(([, text]) => reads.some((one) => text.includes(one)));
  // Only the commands that resolve stacks load that chunk.
  assert.deepEqual(
    readers.map(([name]) => name.replace(/-\w+\.js$/, "")),
    ["main/chunks/chunk"],
  );
  const folder = await installed(t);
  await rm(join(folder, "agent", POSITIONS));
  const state = join(folder, "state.cjs");
  await writeFile(state, "process.on('exit', () => console.log(process.sourceMapsEnabled));\n");
  const kubelet = [...KUBELET_NODE_FLAGS, "--require", state, join(folder, "agent/main/kubelet.js"), "--version"];
  assert.match((await run(kubelet)).stdout, /^Kubernetes v[\d.]+\nfalse\n$/);
});

/** Each source that reads the name of a class or function, and why a short one does no harm. */
const NAME_READERS: Readonly<Record<string, string>> = {
  "node_modules/@opentelemetry/core/src/propagation/composite.ts": "a message for those who write propagators",
  "node_modules/@opentelemetry/resources/src/detect-resources.ts": "a message, and the kubelet uses no detector",
  "node_modules/@opentelemetry/sdk-metrics/src/export/MetricReader.ts": "the kubelet has no reader of this package",
  "node_modules/@opentelemetry/sdk-trace/src/TracerProvider.ts": "for a person who inspects the provider",
  "node_modules/@peculiar/asn1-schema/build/cjs/decorators.js": "a message for those who write schemas",
  "node_modules/@peculiar/asn1-schema/build/cjs/schema.js": "a message for those who write schemas",
  "node_modules/comlink/src/comlink.ts": "MessagePort, a class of Node's",
  "node_modules/commander/lib/error.js": "only instanceof tells these errors apart",
  "node_modules/pino-std-serializers/lib/err.js": "errors have a serializer of our own",
  "node_modules/pino-std-serializers/lib/err-with-cause.js": "errors have a serializer of our own",
  "node_modules/yaml/dist/stringify/stringify.js": "a message about a value that is no YAML",
};

test("every place of the bundle that reads the name of a class is known", async () => {
  const positions = await Positions.read(join(AGENT, POSITIONS));
  const found = new Set<string>();
  for (const folder of ["packs", "main/chunks"]) {
    for (const name of (await readdir(join(AGENT, folder))).filter((one) => one.endsWith(".js"))) {
      for (const [index, line] of (await readFile(join(AGENT, folder, name), "latin1")).split("\n").entries()) {
        for (const match of line.matchAll(/constructor\??\.name\b|new\.target\.name/g)) {
          found.add(positions.find(`${folder}/${name}`, index + 1, match.index + 1)?.source ?? `${folder}/${name}`);
        }
      }
    }
  }
  assert.deepEqual([...found].sort(), Object.keys(NAME_READERS).sort());
});
