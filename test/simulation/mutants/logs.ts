// Faults in the rotation, the compression and the removal of containers' logs, and in their reading.

import type { Mutant } from "../driver/mutant.js";

const ROTATION = "src/main/containers/logs";
const READING = "src/workers/server/logs/pods";

export const LOG_MUTANTS: readonly Mutant[] = [
  {
    name: "rotation removes a file too many",
    file: `${ROTATION}/plan-rotation.ts`,
    text: "rotated.length - (maxFiles - 2)",
    replacement: "rotated.length - (maxFiles - 3)",
  },
  {
    name: "rotation keeps a file too many",
    file: `${ROTATION}/plan-rotation.ts`,
    text: "rotated.length - (maxFiles - 2)",
    replacement: "rotated.length - (maxFiles - 1)",
  },
  {
    name: "what a killed compression has left stays",
    file: `${ROTATION}/plan-rotation.ts`,
    text: "remove: [...strays, ...excess",
    replacement: "remove: [...excess",
  },
  {
    name: "a file too many stays under its compressed name",
    file: `${ROTATION}/rotate.ts`,
    text: "if (!wasThere && !names.includes(compressed))",
    replacement: "if (!wasThere && names.length < 0)",
  },
  {
    name: "a log gets its name back over the runtime's new file",
    file: `${ROTATION}/rotate.ts`,
    text: "    await link(rotated, path);\n",
    replacement: "    await rename(rotated, path);\n    return (await Promise.resolve(link)) !== undefined;\n",
  },
  {
    name: "a log without its file is not opened again",
    file: `${ROTATION}/log-rotation.ts`,
    text: "(missing ? this.reopen(entry, signal) : this.rotate(entry, signal))",
    replacement: "(missing ? Promise.resolve() : this.rotate(entry, signal))",
  },
  {
    name: "a write to an idle log wakes nothing",
    file: `${ROTATION}/log-rotation.ts`,
    text: "() => this.onWrite(entry)",
    replacement: "() => undefined",
  },
  {
    name: "a growing log is looked at each half a minute",
    file: `${ROTATION}/next-look.ts`,
    text: "const ACTIVE_MS = 3000;",
    replacement: "const ACTIVE_MS = 30_000;",
  },
  {
    name: "rotated names follow the wall clock only",
    file: "src/shared/node/container-logs/file-names.ts",
    text: "return formatStem(Math.max(local, Date.UTC",
    replacement: "return formatStem(Math.min(local, Date.UTC",
  },
  {
    name: "the plain file goes before the compressed one has its name",
    file: "src/workers/tasks/compress-log.ts",
    text: "      renameSync(unfinished, path + COMPRESSED);\n",
    replacement: "      removeBestEffort(path);\n      renameSync(unfinished, path + COMPRESSED);\n",
  },
  {
    name: "rotated files of a removed container stay",
    file: "src/main/model/removed-logs.ts",
    text: "name === current || name.startsWith(`${current}.`)",
    replacement: "name === current",
  },
  {
    name: "the logs of a removed pod stay",
    file: "src/main/containers/runtime/clean-up.ts",
    text: "    await removeFiles(directory);\n",
    replacement: "    await Promise.resolve(removeFiles);\n",
  },
  {
    name: "a link leads to the log of the first run",
    file: "src/main/containers/runtime/start-container.ts",
    text: "const target = join(environment.logDirectory, containerLogPath(step.container.name, restartCount));",
    replacement:
      "const target = join(environment.logDirectory, containerLogPath(step.container.name, 0 * restartCount));",
  },
  {
    name: "a write while a watch begins wakes nothing",
    file: `${ROTATION}/log-rotation.ts`,
    text: "const isWoken = entry.watch?.hasFired === true;",
    replacement: "const isWoken = 0 * Number(entry.watch?.hasFired) === 1;",
  },
  {
    name: "a follower asks the pod of its request",
    file: `${READING}/container-logs.ts`,
    text: "const current = pods.get(uid);",
    replacement: "const current = pods.get(uid) ?? pod;",
  },
  {
    name: "a follower leaves a rotated file at once",
    file: `${READING}/read.ts`,
    text: "const ROTATED_UNCHANGED_MS = 2000;",
    replacement: "const ROTATED_UNCHANGED_MS = 0;",
  },
  {
    name: "a follower misses a file",
    file: `${READING}/read.ts`,
    text: "return fresh.slice(index + 1);",
    replacement: "return fresh.slice(index + 2);",
  },
  {
    name: "a reader takes the newest file only",
    file: `${READING}/read.ts`,
    text: "return sinceNanos === undefined ? names :",
    replacement: "return sinceNanos === undefined ? names.slice(-1) :",
  },
  {
    name: "a tail is a line short",
    file: `${READING}/tail.ts`,
    text: "if (this.found === this.lines) this.start",
    replacement: "if (this.found === Math.max(1, this.lines - 1)) this.start",
  },
  {
    name: "previous shows the newest run",
    file: `${READING}/run-of-container.ts`,
    text: "return isNewest(status) ? restartCount - 1 : restartCount;",
    replacement: "return isNewest(status) ? restartCount : restartCount;",
  },
  {
    name: "lines of the first five seconds since a time are left out",
    file: `${READING}/line-writer.ts`,
    text: "nanos >= sinceNanos;",
    replacement: "nanos >= sinceNanos + 5_000_000_000n;",
  },
  {
    name: "parts of lines are not joined",
    file: `${READING}/line-writer.ts`,
    text: "return this.partial && this.stream === stream;",
    replacement: "return this.partial && this.stream !== stream;",
  },
  {
    name: "port 10250 serves users without rights",
    file: "src/workers/server/ports/guard.ts",
    text: 'if (decision.kind === "forbidden") {',
    replacement: 'if (decision.kind === "forbidden" && user === "") {',
  },
  {
    name: "removed pods stay on port 10250",
    file: "src/workers/server/pods/pod-list.ts",
    text: "    this.release(entry);\n    this.entries.delete(uid);\n",
    replacement: "    this.release(entry);\n",
  },
];
