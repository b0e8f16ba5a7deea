// Exit codes and signals in words. Pure.

import type { ContainerStateTerminated } from "../../shared/kubernetes/api/pod-status.js";

const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  5: "SIGTRAP",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  10: "SIGUSR1",
  11: "SIGSEGV",
  12: "SIGUSR2",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
  24: "SIGXCPU",
  25: "SIGXFSZ",
  31: "SIGSYS",
};

export function exitText({ exitCode, signal, reason, message }: ContainerStateTerminated): string {
  const number = signal ?? (exitCode > 128 && exitCode < 160 ? exitCode - 128 : undefined);
  const by = number === undefined || number === 0 ? "" : `, killed by ${SIGNALS[number] ?? `signal ${number}`}`;
  const said = message === undefined || message === "" ? "" : `; its message: ${message}`;
  const why = reason === undefined || reason === "Error" || reason === "Completed" ? "" : ` (${reason})`;
  return `it exited with code ${exitCode}${by}${why}${said}`;
}

const HELP: Readonly<Record<number, string>> = {
  0: "the program exited by itself with success: a container of a pod with restartPolicy Always must keep running",
  126: "code 126: the command is there and cannot be executed: check its rights, and that it is a program",
  127: "code 127: the shell did not find the command: check its name and PATH, and that the image has it",
  132: "code 132: the program used an instruction that this processor does not have, or is damaged",
  134: "code 134: the program ended itself (abort), mostly after a failed check: see its output",
  135: "code 135: the program crashed with a bus error, mostly at a mapped file that was cut",
  137: "code 137: it was killed. Without OOMKilled it did not stop within its grace period, or another program killed it",
  139: "code 139: the program crashed with a segmentation fault",
  143: "code 143: another program stopped it with SIGTERM",
  159: "code 159: a seccomp profile forbade a system call of the program",
};

export function exitHelp(ended: ContainerStateTerminated | undefined): string[] {
  const help = ended === undefined ? undefined : HELP[ended.exitCode];
  return help === undefined ? [] : [help];
}
