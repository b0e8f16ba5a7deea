// setns(2): this thread in another network namespace, for the time of one function. Sockets that it makes stay there.
// Invariant: the thread is back in its own namespace when the function has returned, or the thread ends.

import { closeSync, openSync } from "node:fs";
import { libc } from "./libc.js";

const CLONE_NEWNET = 0x4000_0000;

/**
 * For worker threads that make no other sockets meanwhile: nothing asynchronous runs between entering and leaving.
 * @param namespace descriptor of the namespace's file
 * @param work must do all that matters before it returns
 * @throws OsCallError if this thread may not enter the namespace
 */
export function runInNetworkNamespace(namespace: number, work: () => void): void {
  const own = openSync("/proc/thread-self/ns/net", "r");
  try {
    libc("setns", "the sandbox's network namespace", namespace, CLONE_NEWNET);
    try {
      work();
    } finally {
      goBack(own);
    }
  } finally {
    closeSync(own);
  }
}

function goBack(own: number): void {
  try {
    libc("setns", "the kubelet's network namespace", own, CLONE_NEWNET);
  } catch (error) {
    // Uncaught on purpose: the supervisor starts a new thread in the process's namespace.
    queueMicrotask(() => {
      throw error;
    });
  }
}
