// nodelet exec: runs a command in a container, as kubectl exec has it.

import type { Context } from "../context.js";
import { CliError } from "../errors.js";
import { whyNotRunning } from "../exec/not-running.js";
import { execIn } from "../exec/session.js";
import { remark } from "../output/terminal.js";
import { findPod, fullName, podsOf } from "../pods/find.js";
import { takenContainer } from "../pods/pod-paths.js";

export interface ExecOptions {
  namespace?: string;
  container?: string;
  stdin?: boolean;
  tty?: boolean;
}

/** Resolves to the exit code of the command. */
export async function execCommand(
  { client }: Context,
  named: string,
  command: readonly string[],
  { namespace, container: wanted, stdin = false, tty = false }: ExecOptions,
): Promise<number> {
  const pod = findPod(await podsOf(client), named, namespace);
  const container = takenContainer(pod, wanted, remark);
  const terminal = tty && stdin && process.stdin.isTTY;
  const onStart = (resize: (columns: number, rows: number) => void): void => {
    if (terminal) process.stdin.setRawMode(true);
    if (!tty || !process.stdout.isTTY) return;
    const now = (): void => resize(process.stdout.columns, process.stdout.rows);
    now();
    process.stdout.on("resize", now);
  };
  try {
    return await execIn(
      client,
      { pod, container, command, tty },
      { stdin: stdin ? process.stdin : undefined, stdout: process.stdout, stderr: process.stderr, onStart },
    );
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const reason = whyNotRunning(pod, container);
    if (reason === undefined) throw error;
    const remedy = `the kubelet's answer was "${error.message}"; see \`nodelet why ${fullName(pod)}\``;
    throw new CliError(error.exitCode, `container ${container} of ${fullName(pod)} does not run: ${reason}`, remedy);
  } finally {
    if (terminal) process.stdin.setRawMode(false);
    process.stdin.destroy();
  }
}
