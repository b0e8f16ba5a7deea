// The thread that sends the requests of httpGet hooks, as the runtime verbs call it.

import type { HttpHook, HttpHookReply } from "../../shared/contracts/peers.js";

export interface HookPort {
  /** Rejects with the signal's reason, or if no thread could run the hook. */
  runHook(hook: HttpHook, signal: AbortSignal): Promise<HttpHookReply>;
}
