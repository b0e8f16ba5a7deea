// Commands about one pod and its containers, and their list. Each is one file, loaded when it runs.

import type { AddCommand } from "./add-command.js";
import type { CopyOptions } from "./commands/cp.js";
import type { ExecOptions } from "./commands/exec.js";
import type { LogOptions } from "./commands/logs.js";
import type { TimelineOptions } from "./commands/timeline.js";
import type { Namespaced, Watched } from "./common-options.js";
import { watched } from "./output/watch.js";

export const addPods: AddCommand = ({ ofPods, context, done }) =>
  ofPods("pods", "the pods of the node")
    .option("-A, --all-namespaces", "pods of all namespaces (the default)")
    .option("-w, --watch", "show them again every 2 s")
    .action(async ({ watch = false, namespace }: Watched & Namespaced) => {
      const { podsCommand } = await import("./commands/pods.js");
      done(
        await watched(await context(), watch, (shown) =>
          podsCommand(shown, namespace === undefined ? {} : { namespace }),
        ),
      );
    });

export const addWhy: AddCommand = ({ ofPods, context, done }) =>
  ofPods("why <pod>", "why a pod does not run, is not ready, restarts or stays, or why a manifest makes no pod")
    .option("-w, --watch", "show it again every 2 s")
    .action(async (name: string, { watch = false, namespace }: Watched & Namespaced) => {
      const { whyCommand } = await import("./commands/why.js");
      done(await watched(await context(), watch, (shown) => whyCommand(shown, name, namespace)));
    });

export const addPod: AddCommand = ({ ofPods, context, done }) =>
  ofPods("pod <pod>", "one pod with its containers, conditions and volumes")
    .option("-w, --watch", "show it again every 2 s")
    .action(async (name: string, { watch = false, namespace }: Watched & Namespaced) => {
      const { podCommand } = await import("./commands/pod.js");
      done(await watched(await context(), watch, (shown) => podCommand(shown, name, namespace)));
    });

export const addTimeline: AddCommand = ({ ofPods, context, done }) =>
  ofPods("timeline <pod>", "the steps of a pod's start as bars")
    .option("--svg <file>", "write them as an SVG file")
    .action(async (name: string, options: TimelineOptions) => {
      const { timelineCommand } = await import("./commands/timeline.js");
      done(await timelineCommand(await context(), name, options));
    });

export const addLogs: AddCommand = ({ ofPods, context, done }) =>
  ofPods("logs <pod> [container]", "the log of a container")
    .option("-c, --container <name>", "the container (default: the first)")
    .option("-f, --follow", "show new lines as they are written")
    .option("-p, --previous", "the log of the previous run")
    .option("--timestamps", "with the time of each line")
    .option("--tail <lines>", "only so many lines of the end (-1: all)")
    .option("--since <duration>", "only lines of that time until now: 30s, 5m, 1h30m; a number is seconds")
    .option("--since-time <time>", "only lines since a time such as 2026-01-02T15:04:05Z")
    .action(async (name: string, container: string | undefined, options: LogOptions) => {
      const { logsCommand } = await import("./commands/logs.js");
      done(await logsCommand(await context(), name, container === undefined ? options : { container, ...options }));
    });

export const addExec: AddCommand = ({ ofPods, context, done }) =>
  ofPods("exec <pod> <command...>", "run a command in a container: exec <pod> ls -la /; the exit code is the command's")
    .option("-c, --container <name>", "the container (default: the first)")
    .option("-i, --stdin", "pass standard input to the command")
    .option("-t, --tty", "with a terminal")
    .action(async (name: string, words: string[], options: ExecOptions) => {
      const { execCommand } = await import("./commands/exec.js");
      done(await execCommand(await context(), name, words, options));
    });

export const addCopy: AddCommand = ({ ofPods, context, done }) =>
  ofPods("cp <source> <target>", "copy a file or folder out of a container or into it: <pod>:<path>, or a path")
    .option("-c, --container <name>", "the container (default: the first)")
    .action(async (source: string, target: string, options: CopyOptions) => {
      const { copyCommand } = await import("./commands/cp.js");
      done(await copyCommand(await context(), source, target, options));
    });
