// The peers thread's contract: probes and lifecycle hooks whose server a pod chooses. Main sends probes as to the
// prober thread.
// Invariant: the reply to a hook is data, also when the hook failed; a rejection means that the thread, not the server,
// is at fault.

import type { GetAction } from "../io/http/client/get-action.js";
import type { PodUid } from "../kubernetes/identifiers.js";
import type { ProberControl } from "./prober.js";

export interface HttpHook {
  /** For the pod's budget of processor time. */
  uid: PodUid;
  action: GetAction;
  /** "kube-lifecycle/1.36" */
  userAgent: string;
}

export type HttpHookReply =
  /** `fellBack`: the server does not speak TLS, and the request without TLS got a response. */
  { ok: true; fellBack: boolean } | { ok: false; message: string };

export interface PeersControl extends ProberControl {
  /** Resolves when the server has responded, or cannot. `id` is unique among the hooks in progress. */
  runHook(id: number, hook: HttpHook): Promise<HttpHookReply>;
  cancelHook(id: number): void;
}

export interface PeersInit {
  /** User agent of probes, "kube-probe/1.36". */
  userAgent: string;
}
