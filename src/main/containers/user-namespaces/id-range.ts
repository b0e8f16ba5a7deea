// The node's user and group ids that pods may have. They are the ranges of user "kubelet" in /etc/subuid and
// /etc/subgid. Without such ranges they are all ids that the node's own users do not have. The error for an unusable
// range names the change to make.

import { UserNamespaceError } from "./user-namespace-error.js";

export interface IdRange {
  first: number;
  length: number;
}

export interface CommandAnswer {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end; undefined when it is not installed. */
export type RunCommand = (program: string, args: readonly string[]) => Promise<CommandAnswer | undefined>;

const USER = "kubelet";
/** The highest id means "none" to the kernel: a range that holds it can't be mapped. */
const ID_LIMIT = 2 ** 32 - 1;

export async function podIdRange(run: RunCommand, idsPerPod: number, maxPods: number): Promise<IdRange> {
  const all = { first: idsPerPod, length: Math.floor((ID_LIMIT - idsPerPod) / idsPerPod) * idsPerPod };
  const user = await run("getent", ["passwd", USER]);
  if (user?.status !== 0) return all;
  const [uids, gids] = await Promise.all([run("getsubids", [USER]), run("getsubids", ["-g", USER])]);
  if (uids === undefined || gids === undefined) return all;
  const range = parsed(uids, "getsubids");
  const groups = parsed(gids, "getsubids -g");
  if (range.first !== groups.first || range.length !== groups.length) {
    throw new UserNamespaceError(
      `user "${USER}" has other ids in /etc/subuid (${shown(range)}) than in /etc/subgid (${shown(groups)}); make them equal`,
    );
  }
  check(range, idsPerPod, maxPods);
  return range;
}

const shown = ({ first, length }: IdRange): string => `${first}:${length}`;

/** "0: kubelet 65536 7208960": one line, one range. */
function parsed({ status, stdout, stderr }: CommandAnswer, command: string): IdRange {
  const lines = stdout.split("\n").filter((line) => line.trim() !== "");
  if (status !== 0 || lines.length === 0) {
    const said = stderr.trim() === "" ? `status ${status}` : stderr.trim();
    throw new UserNamespaceError(
      `${command} ${USER} failed: ${said}; give the user a range in /etc/subuid and /etc/subgid`,
    );
  }
  const [, first, length] = /^\d+:\s+\S+\s+(\d+)\s+(\d+)\s*$/.exec(lines[0] ?? "") ?? [];
  if (lines.length > 1 || first === undefined || length === undefined) {
    throw new UserNamespaceError(`${command} ${USER} gave "${stdout.trim()}": exactly one range of ids is needed`);
  }
  return { first: Number(first), length: Number(length) };
}

function check({ first, length }: IdRange, idsPerPod: number, maxPods: number): void {
  const refuse = (what: string): never => {
    const place = `the range ${first}:${length} of user "${USER}" in /etc/subuid and /etc/subgid`;
    throw new UserNamespaceError(`${place} can't be used: ${what}`);
  };
  if (first % idsPerPod !== 0) refuse(`its first id must be a multiple of ${idsPerPod} (userNamespaces.idsPerPod)`);
  if (first < idsPerPod) refuse(`its first id must be ${idsPerPod} at least: the node's own users are below`);
  if (length % idsPerPod !== 0) refuse(`its length must be a multiple of ${idsPerPod} (userNamespaces.idsPerPod)`);
  if (first + length > ID_LIMIT) refuse(`it must end below ${ID_LIMIT}`);
  if (length / idsPerPod < maxPods) refuse(`it is too short for ${maxPods} pods (maxPods) of ${idsPerPod} ids`);
}
