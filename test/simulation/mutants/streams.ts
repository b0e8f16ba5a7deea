// Faults in exec, attach and port-forward.

import type { Mutant } from "../driver/mutant.js";

const STREAMS = "src/workers/server/streams";

export const STREAM_MUTANTS: readonly Mutant[] = [
  {
    name: "a status of the runtime is sent to the client, too",
    file: `${STREAMS}/remote-command.ts`,
    text: "if (channel === CHANNEL.ERROR) this.status.add(part);",
    replacement: "if (channel === CHANNEL.ERROR) this.status.add(part), this.client.send(messageOf(channel, part));",
  },
  {
    name: "a runtime that breaks off is a success",
    file: `${STREAMS}/remote-command.ts`,
    text: "const hasStatus = this.goneAway || !this.speaking.has(CHANNEL.ERROR);",
    replacement: "const hasStatus = this.goneAway || this.speaking.size > 0;",
  },
  {
    name: "input that waited for the runtime is not read on",
    file: `${STREAMS}/remote-command.ts`,
    text: "const onDrain = ownedBy(socket, () => this.client.resume());",
    replacement: "const onDrain = ownedBy(socket, () => undefined);",
  },
  {
    name: "output that waited for the client is not read on",
    file: `${STREAMS}/remote-command.ts`,
    text: "onDrain: () => this.runtime.resume(),",
    replacement: "onDrain: () => undefined,",
  },
  {
    name: "the end of the input is not passed on",
    file: `${STREAMS}/remote-command.ts`,
    text: "channel === CHANNEL.RESIZE)) this.session.end(stream);",
    replacement: "channel === CHANNEL.RESIZE) && channel > CHANNEL.RESIZE) this.session.end(stream);",
  },
  {
    name: "a port-forward loses what came with the runtime's answer",
    file: `${STREAMS}/port-forward.ts`,
    text: "if (heads.runtime.length > 0) send(heads.runtime);",
    replacement: "if (heads.runtime.length > 1e9) send(heads.runtime);",
  },
  {
    name: "a forwarded port that waited for its client is not read on",
    file: `${STREAMS}/port-forward.ts`,
    text: "onDrain: () => runtime.resume(),",
    replacement: "onDrain: () => undefined,",
  },
  {
    name: "idle streams stay",
    file: `${STREAMS}/tunnel.ts`,
    text: "quietLooks >= IDLE_LOOKS",
    replacement: "quietLooks >= 9 * IDLE_LOOKS",
  },
  {
    name: "a stream is idle by its age",
    file: `${STREAMS}/tunnel.ts`,
    text: "quietLooks = now === moved ? quietLooks + 1 : 0;",
    replacement: "quietLooks = now >= moved ? quietLooks + 1 : 0;",
  },
  {
    name: "the timer of an ended stream stays",
    file: `${STREAMS}/tunnel.ts`,
    text: "      idle.cancel();\n",
    replacement: "",
  },
  {
    name: "a client that does not close keeps its stream",
    file: `${STREAMS}/tunnel.ts`,
    text: "late ??= clock.after(LINGER_MS, end);",
    replacement: "late ??= clock.after(LINGER_MS * 100, end);",
  },
  {
    name: "a failed write discards the runtime's last words",
    file: `${STREAMS}/runtime-connection.ts`,
    text: "    () =>\n      done();\n",
    replacement: "    (error) =>\n      done(error);\n",
  },
  {
    name: "the runtime gets the client's token",
    file: `${STREAMS}/passage.ts`,
    text: 'new Set(["host", "authorization",',
    replacement: 'new Set(["host",',
  },
  {
    name: "a runtime that does not answer is waited for",
    file: `${STREAMS}/runtime-answer.ts`,
    text: "const ANSWER_TIMEOUT_MS = 30000;",
    replacement: "const ANSWER_TIMEOUT_MS = 300000;",
  },
];
