// The commands that take manifests: apply, diff, validate, delete and restart. Each is one file, loaded when it runs.

import type { Command } from "commander";
import type { AddCommand, CommandDeps } from "./add-command.js";
import type { ApplyOptions } from "./commands/apply.js";
import type { DeleteOptions } from "./commands/delete.js";
import type { RestartOptions } from "./commands/restart.js";
import type { ValidateOptions } from "./commands/validate.js";
import type { ManifestInput } from "./manifests/read.js";
import { requirePaths } from "./manifests/require-paths.js";

const ABOUT_RESTART = `
The pod terminates with its grace period and preStop hooks. Then it starts
again with a new sandbox, a new address and empty emptyDir volumes. A pod of a
manifest file or URL keeps its UID. A manifest of the manifest API gets the
annotation nodelet.dev/restartedAt, and its pod another UID. Pods of the API
server are refused: their controllers replace them.
`;

export const addApply: AddCommand = ({ command, context, done }) =>
  withManifests(command, "apply [files...]", "create or change the pods of manifests")
    .option("--dry-run", "check everything and change nothing")
    .action(async (files: string[], options: ApplyOptions) => {
      const { applyCommand } = await import("./commands/apply.js");
      done(await applyCommand(await context(), withNames(files, options)));
    });

export const addDiff: AddCommand = ({ command, context, done }) =>
  withManifests(
    command,
    "diff [files...]",
    "what apply would change; exits with 0: nothing, 1: something, 2: a failure",
  ).action(async (files: string[], options: ManifestInput) => {
    const { diffCommand } = await import("./commands/diff.js");
    done(await diffCommand(await context(), withNames(files, options)));
  });

export const addValidate: AddCommand = ({ command, context, done }) =>
  withManifests(
    command,
    "validate [files...]",
    "check manifests as a kubelet does, without one: every fault with its position",
  )
    .option("--strict", "warnings are errors")
    .action(async (files: string[], options: ValidateOptions) => {
      const { validateCommand } = await import("./commands/validate.js");
      done(await validateCommand(await context(), withNames(files, options)));
    });

export const addDelete: AddCommand = ({ command, context, done }) =>
  withFiles(command("delete [pods...]", "delete the manifests of pods; the pods terminate"))
    .option("-n, --namespace <name>", "namespace of the pods (default: any)")
    .option("--wait", "wait until the pods are gone (default)")
    .option("--no-wait", "do not wait")
    .option("--timeout <duration>", "wait for so long at most (default: 0, without a limit)")
    .option(
      "--grace-period <seconds>",
      "instead of the pod's own grace period; 0 counts as 1; a second delete shortens it",
    )
    .option("--now", "with a grace period of 1 s")
    .option("--force", "as --now, where no grace period is given")
    .option("--all", "all pods of the manifest API")
    .option("--ignore-not-found", "a pod that does not exist is no failure")
    .option("--dry-run", "check everything and change nothing")
    .action(async (names: string[], options: DeleteOptions) => {
      const { deleteCommand } = await import("./commands/delete.js");
      done(await deleteCommand(await context(), names, options));
    });

export const addRestart: AddCommand = ({ command, context, done }) =>
  command("restart <pods...>", "end pods and start them anew from their manifests")
    .option("-n, --namespace <name>", "namespace of the pods (default: any)")
    .addHelpText("after", ABOUT_RESTART)
    .action(async (names: string[], options: RestartOptions) => {
      const { restartCommand } = await import("./commands/restart.js");
      done(await restartCommand(await context(), names, options));
    });

function withManifests(command: CommandDeps["command"], usage: string, description: string): Command {
  return withFiles(command(usage, description)).option("-n, --namespace <name>", "namespace of pods that name none");
}

function withFiles(command: Command): Command {
  const collect = (path: string, before: string[] | undefined): string[] => [...(before ?? []), path];
  return command
    .option("-f, --filename <path>", "file, folder, or - for standard input; can be repeated", collect)
    .option("-R, --recursive", "with the folders below a folder");
}

/**
 * `-f *.yaml` of a shell has its first file as -f, and the others as words.
 * @throws MissingArgumentError before the kubelet is asked
 */
function withNames<T extends ManifestInput>(files: readonly string[], options: T): T {
  const filename = [...(options.filename ?? []), ...files];
  requirePaths(filename);
  return { ...options, filename };
}
