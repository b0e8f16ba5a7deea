// The longest delay of an idle process while an attack runs. Main's code cannot avoid this part of its delay, while
// the kernel and the runtime's programs hold both processors.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";

export class IdleDelay {
  private readonly child: ChildProcess;

  constructor() {
    // A session of its own, as the kubelet has: the kernel may share processors out by sessions.
    this.child = fork(new URL("./idle-process.js", import.meta.url), { execArgv: [], detached: true });
  }

  /** Ends the process. @returns its longest delay in ms */
  async stop(): Promise<number> {
    const said = once(this.child, "message");
    const ended = once(this.child, "exit");
    this.child.send("stop");
    const [ms] = (await said) as [number];
    await ended;
    return ms;
  }
}
