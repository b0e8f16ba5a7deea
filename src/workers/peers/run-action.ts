// Maps a probe's action to the module that runs it. The first probe of a type loads its module.

import type { Clock } from "../../shared/base/clock/clock.js";
import { InvariantError } from "../../shared/base/errors/invariant.js";
import { lazily } from "../../shared/base/turns/lazily.js";
import type { HttpHook, HttpHookReply } from "../../shared/contracts/peers.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { RunAction } from "../../shared/node/probes/run.js";
import type { ThreadCpu } from "../../shared/thread/thread-cpu.js";
import { PeerAccounts } from "./accounts.js";
import { CpuTurns } from "./cpu-turns.js";
import type { Guard } from "./guarded-source.js";

export class PeerActions {
  private readonly accounts: PeerAccounts;
  private readonly turns: CpuTurns;
  private readonly http = lazily(() => import("./http.js"));
  private readonly grpc = lazily(() => import("./grpc.js"));
  private readonly httpHook = lazily(() => import("./hook.js"));

  constructor(
    private readonly clock: Pick<Clock, "monotonic" | "after">,
    cpu: ThreadCpu,
  ) {
    this.accounts = new PeerAccounts(clock);
    this.turns = new CpuTurns(clock, cpu);
  }

  readonly probe: RunAction = async ({ action }, context) => {
    const guard = this.guard(context.uid, (ms) => context.deadline.exclude(ms));
    switch (action.type) {
      case "http":
        return (await this.http()).probeHttp(action, context, guard);
      case "grpc":
        return (await this.grpc()).probeGrpc(action, context, guard, this.clock);
      case "exec":
      case "tcp":
      case "impossible":
        throw new InvariantError(`the peers thread runs no ${action.type} probes`);
    }
  };

  async hook(hook: HttpHook, signal: AbortSignal): Promise<HttpHookReply> {
    return (await this.httpHook()).runHttpHook(hook, this.guard(hook.uid), signal);
  }

  private guard(uid: PodUid, onWaited?: (ms: number) => void): Guard {
    return { run: this.accounts.startRun(uid, onWaited), turns: this.turns };
  }
}
