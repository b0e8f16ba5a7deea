// Commands about the program itself, and the bundle for an issue. Each is one file, loaded when it runs.

import { Argument } from "commander";
import type { AddCommand } from "./add-command.js";
import type { NamesOptions } from "./commands/names.js";
import type { ResolveOptions } from "./commands/resolve.js";
import { NAMES_COMMAND } from "./completion/names-command.js";
import { writeOut } from "./output/terminal.js";

/** Shells for which `nodelet completion` has a script. */
const SHELLS = ["bash", "zsh", "fish"] as const;

export const addSupportBundle: AddCommand = ({ command, context, done }) =>
  command("support-bundle", "write a tar.gz for an issue, with secrets masked")
    .option("--file <path>", "the file (default: nodelet-support-<time>.tar.gz)")
    .action(async (options: { file?: string }) => {
      const { bundleCommand } = await import("./commands/support-bundle.js");
      done(await bundleCommand(await context(), options));
    });

export const addResolve: AddCommand = ({ command, context, done }) =>
  command("resolve", "replace positions of nodelet's code in a stack, a log or a V8 profile by those of its sources")
    .argument("[file]", "the text (default: standard input)")
    .option("--positions <file>", "positions.json.gz of the build that wrote the text (default: of this command)")
    .action(async (file: string | undefined, options: ResolveOptions) => {
      const { resolveCommand } = await import("./commands/resolve.js");
      done(await resolveCommand(await context(), file, options));
    });

export const addVersion: AddCommand = ({ command, context, done }) =>
  command("version", "the version of this command, and of the kubelet").action(async () => {
    const { versionCommand } = await import("./commands/version.js");
    done(await versionCommand(await context()));
  });

/** The hidden command of completion scripts; its exit code is 0. */
export const addNames: AddCommand = ({ program, context }) =>
  program
    .command(NAMES_COMMAND, { hidden: true })
    .option("-n, --namespace <name>")
    .option("--containers-of <pod>")
    .action(async (options: NamesOptions) => {
      const { namesCommand } = await import("./commands/names.js");
      await namesCommand(await context(), options);
    });

export const addCompletion: AddCommand = ({ program, command }) =>
  command("completion", "print the completion script of this command for a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action(async (shell: string) => {
      const { completionCommand } = await import("./commands/completion.js");
      completionCommand(program, shell, (text) => writeOut(text, false));
    });
