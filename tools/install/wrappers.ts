// The executables outside our folder: shell scripts that start the code with the flags it is made for. The kubelet
// keeps the name by which it was called as argv[0]. Programs that look for a process named kubelet read that word:
// pidof of procps, and upstream's test suites. `exec -a` needs bash: a POSIX shell cannot set argv[0].

/** As in the first line of the entry point, which is not what systemd executes. */
export const NODE_FLAGS: readonly string[] = ["--max-semi-space-size=4"];
const ENVIRONMENT = "MALLOC_ARENA_MAX=1";

/** Paths below our folder. */
export const ENTRIES = { kubelet: "dist/agent/main/kubelet.js", nodelet: "dist/agent/cli/nodelet.js" } as const;

/** Text of the kubelet's executable; `home`: our folder as the running machine sees it. */
export function kubeletScript(node: string, home: string): string {
  return `#!/bin/bash\n${ENVIRONMENT} exec -a "$0" ${node} ${NODE_FLAGS.join(" ")} ${home}/${ENTRIES.kubelet} "$@"\n`;
}

/** Text of the nodelet command's executable. */
export function nodeletScript(node: string, home: string): string {
  return `#!/bin/sh\nexec ${node} ${home}/${ENTRIES.nodelet} "$@"\n`;
}
