// Loaded into a kubelet by `--import`, before its own code: counts main's calls on files and its messages to other
// threads. A client of the socket that NODELET_COUNTS names receives the counts so far as JSON.

import files, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { createServer } from "node:net";
import { isMainThread, MessagePort, Worker } from "node:worker_threads";

type Call = (this: unknown, ...args: unknown[]) => unknown;

/** The label of messages; every other one is a call on files. */
const MESSAGES = "messages";
const counts: Record<string, number> = {};

/** Each call of `target[name]` counts as `label`. */
function countCalls(target: object, name: string, label: string): void {
  const original = Reflect.get(target, name) as Call;
  const counting: Call = function (...args) {
    counts[label] = (counts[label] ?? 0) + 1;
    return original.apply(this, args);
  };
  Reflect.set(target, name, counting);
}

/** The class of open files is not exported: its methods are counted from the first file on. */
function countHandles(): void {
  const open = files.open.bind(files);
  let known = false;
  files.open = async (...args) => {
    const handle: FileHandle = await open(...args);
    if (known) return handle;
    known = true;
    const methods: unknown = Object.getPrototypeOf(handle);
    for (const name of ["read", "write", "readFile", "writeFile", "appendFile", "stat", "sync", "datasync", "close"]) {
      countCalls(methods as object, name, `file ${name}`);
    }
    return handle;
  };
}

function countFiles(): void {
  countHandles();
  for (const [name, value] of Object.entries(files)) if (typeof value === "function") countCalls(files, name, name);
  syncBuiltinESMExports();
}

const socket = process.env["NODELET_COUNTS"];
if (socket !== undefined && isMainThread) {
  countFiles();
  countCalls(MessagePort.prototype, "postMessage", MESSAGES);
  countCalls(Worker.prototype, "postMessage", MESSAGES);
  createServer((client) => client.on("error", () => undefined).end(JSON.stringify(counts)))
    .listen(socket)
    .unref();
}
