// Runs the real nodelet executable against the kubelet of a test node.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TestNode } from "../harness/node.js";

const NODELET_ENTRY = fileURLToPath(new URL("../../agent/cli/nodelet.js", import.meta.url));

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  uid?: number;
  gid?: number;
  input?: string;
  /** A folder of programs that the command finds first. */
  bin?: string;
}

export function runNodelet(
  args: readonly string[],
  { uid, gid, input, bin }: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [NODELET_ENTRY, ...args],
      {
        timeout: 180_000,
        maxBuffer: 64 * 1024 * 1024,
        ...(uid !== undefined && { uid }),
        ...(gid !== undefined && { gid }),
        ...(bin !== undefined && { env: { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` } }),
      },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
    child.stdin?.end(input ?? "");
  });
}

/** On the socket of this node. */
export function nodelet(node: TestNode, ...args: string[]): Promise<CommandResult> {
  return runNodelet(["--root-dir", node.kubelet.rootDir, ...args]);
}
