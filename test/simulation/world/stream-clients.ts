// Clients that exec, attach and forward ports through port 10250, by WebSockets as kubectl does.

import { ContainerState, PodSandboxState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import type { Random } from "../kernel/random.js";
import type { Trace } from "../kernel/trace.js";
import { TOKENS } from "./log-readers.js";
import { podNameOf } from "./pod-facts.js";
import type { SimulatedRuntime } from "./runtime.js";
import { StreamClient } from "./stream-client.js";
import type { StreamAction, StreamKind, StreamSession } from "./stream-session.js";
import { StreamingServer } from "./streaming-server.js";

/** Sessions that ended so long ago are forgotten. */
const FORGOTTEN_MS = 600_000;

interface Target {
  id: string;
  labels: Readonly<Record<string, string>>;
}

export class StreamClients {
  /** Those that go on at one of their ends. */
  readonly open = new Set<StreamSession>();
  /** Hears of each request, and of each session whose client has ended. */
  readonly onBegin = new Set<(session: StreamSession) => void>();
  readonly onEnd = new Set<(session: StreamSession) => void>();
  readonly server: StreamingServer;
  private readonly sessions = new Map<number, StreamSession>();
  private made = 0;

  constructor(
    private readonly runtime: SimulatedRuntime,
    private readonly trace: Trace,
    random: Random,
  ) {
    this.server = new StreamingServer(runtime, random, (number) => this.sessions.get(number));
  }

  /** Those that go on at the runtime, and those of clients. */
  get all(): IterableIterator<StreamSession> {
    return this.sessions.values();
  }

  perform({ do: _do, pick, ...rest }: StreamAction): void {
    const targets = this.targetsOf(rest.kind);
    const target = targets[pick % Math.max(1, targets.length)];
    if (target === undefined) return;
    const { id, labels } = target;
    const number = ++this.made;
    const session: StreamSession = {
      ...rest,
      number,
      pod: podNameOf(labels),
      id,
      path: pathOf(rest, number, labels),
      beganAt: kernel.monotonic,
      status: 0,
      text: "",
      sent: 0,
      hasSentEnd: false,
      got: {},
      statuses: [],
    };
    this.sessions.set(number, session);
    this.open.add(session);
    this.trace.add(`stream ${number} begins ${rest.kind} ${session.pod} as ${rest.as}`);
    for (const listener of this.onBegin) listener(session);
    new StreamClient(session, TOKENS[rest.as], () => this.ended(session)).start();
  }

  private ended(session: StreamSession): void {
    const { number, status, got, statuses, closeCode } = session;
    this.open.delete(session);
    this.trace.add(`stream ${number} ends: ${status} ${JSON.stringify(got)} ${statuses.join()} ${closeCode ?? ""}`);
    for (const listener of this.onEnd) listener(session);
    kernel.after(kernel.world, FORGOTTEN_MS, () => this.sessions.delete(number));
  }

  private targetsOf(kind: StreamKind): Target[] {
    const { containers, sandboxes } = this.runtime.state;
    if (kind === "portForward")
      return [...sandboxes.values()]
        .filter(({ status }) => status.state === PodSandboxState.SANDBOX_READY)
        .map(({ status, config }) => ({ id: status.id, labels: config.labels }));
    return [...containers.values()]
      .filter(({ status }) => status.state === ContainerState.CONTAINER_RUNNING)
      .map(({ status, config }) => ({ id: status.id, labels: config.labels }));
  }
}

function pathOf(
  { kind, script, use }: Pick<StreamAction, "kind" | "script" | "use">,
  number: number,
  labels: Readonly<Record<string, string>>,
): string {
  const pod = `/${kind}/${labels["io.kubernetes.pod.namespace"]}/${labels["io.kubernetes.pod.name"]}`;
  if (kind === "portForward") return pod;
  const words = new URLSearchParams({ output: "1" });
  if (use.sends > 0 || use.closesStdin || script.echoes) words.set("input", "1");
  if (script.echoes) words.set("error", "1");
  if (kind === "exec") for (const word of ["session", String(number)]) words.append("command", word);
  return `${pod}/${labels["io.kubernetes.container.name"]}?${words.toString()}`;
}
