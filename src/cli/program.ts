// The commands of nodelet: each is one row, in the order of their help. One of them runs, and gives the exit code.

import { Command, CommanderError, Option } from "commander";
import { messageOf } from "../shared/base/errors/thrown.js";
import type { AddCommand } from "./add-command.js";
import { commandName, isBeforeCommand, preparedWords } from "./command-line.js";
import type { Context, GlobalOptions } from "./context.js";
import { CliError, EXIT } from "./errors.js";
import { examplesText } from "./examples.js";
import { addApply, addDelete, addDiff, addRestart, addValidate } from "./manifest-commands.js";
import {
  addCgroups,
  addConfig,
  addDevices,
  addDoctor,
  addEvents,
  addImages,
  addStatus,
  addTop,
  addVolumes,
} from "./node-commands.js";
import { addCompletion, addNames, addResolve, addSupportBundle, addVersion } from "./other-commands.js";
import { FORMATS } from "./output/formats.js";
import { printFailure, writeErr, writeOut } from "./output/terminal.js";
import { addCopy, addExec, addLogs, addPod, addPods, addTimeline, addWhy } from "./pod-commands.js";
import { MissingArgumentError, USAGE_EXAMPLES, usageLine } from "./usage-errors.js";

const EXIT_CODES = `
Exit codes: 0 all is well, 1 something is wrong, 2 wrong usage,
3 no kubelet responds on the socket.
`;

/** Headings of the help. */
const [NODE, PODS, MANIFESTS, OTHERS] = ["Node:", "Pods:", "Manifests:", "Others:"] as const;

/** Each command with its heading, in the order of the help, the man page and the completions. */
const COMMANDS: readonly (readonly [heading: string, add: AddCommand])[] = [
  [NODE, addStatus],
  [PODS, addPods],
  [PODS, addWhy],
  [PODS, addPod],
  [PODS, addTimeline],
  [NODE, addEvents],
  [PODS, addLogs],
  [PODS, addExec],
  [PODS, addCopy],
  [NODE, addTop],
  [MANIFESTS, addApply],
  [MANIFESTS, addDiff],
  [MANIFESTS, addValidate],
  [MANIFESTS, addDelete],
  [MANIFESTS, addRestart],
  [NODE, addConfig],
  [NODE, addImages],
  [NODE, addVolumes],
  [NODE, addDevices],
  [NODE, addCgroups],
  [NODE, addDoctor],
  [OTHERS, addSupportBundle],
  [OTHERS, addResolve],
  [OTHERS, addVersion],
  [OTHERS, addNames],
  [OTHERS, addCompletion],
];

/** Returns the exit code. Never rejects. */
export async function main(argv: readonly string[]): Promise<number> {
  let code: number = EXIT.fine;
  const program = programOf((result) => (code = result));
  try {
    if (isBeforeCommand(program, argv, "--version")) {
      const { productVersion } = await import("../shared/base/version/product-version.js");
      writeOut(`nodelet ${productVersion().version}\n`, false);
      return EXIT.fine;
    }
    await program.parseAsync(preparedWords(program, argv), { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
    if (!(error instanceof CliError)) {
      // The machine refused something: its text names the call and the path, and no line of ours explains more.
      const text = error instanceof Error && !("syscall" in error) ? (error.stack ?? error.message) : messageOf(error);
      writeErr(`nodelet: ${text}\n`);
      return EXIT.wrong;
    }
    if (error instanceof MissingArgumentError) {
      printFailure(usageLine(commandName(program, argv), error.message));
      return error.exitCode;
    }
    printFailure(error.message);
    if (error.remedy !== undefined) writeErr(`what to do: ${error.remedy}\n`);
    return error.exitCode;
  }
}

/**
 * The program: parse runs a command, which then calls `done` with its exit code. Its texts are also those of the man
 * page.
 */
export function programOf(done: (code: number) => void): Command {
  const program = new Command("nodelet")
    .description(
      "Shows what the kubelet of this machine does and why a pod does not run, and runs pods from manifests.",
    )
    .option("--socket <path>", "admin socket of the kubelet (default: NODELET_SOCKET, else by --root-dir)")
    .option(
      "--root-dir <path>",
      "root directory of the kubelet, by which its socket is found (default: /var/lib/kubelet)",
    )
    .addOption(new Option("-o, --output <form>", "form of the output").choices(FORMATS).default("table"))
    .option("--color", "colours even if the output is no terminal")
    .option("--no-color", "no colours")
    .option("--version", "show the version of this command and exit")
    .addHelpText("after", () => `${examplesText()}${EXIT_CODES}`)
    .configureOutput({ writeOut: (text) => writeOut(text, false), writeErr, outputError: complain(undefined) })
    .commandsGroup(OTHERS)
    .helpCommand("help [command]", "show the help of a command")
    .exitOverride();
  /** Its code brings Node's HTTP client, which the help does not need. */
  const context = async (): Promise<Context> => {
    const { contextOf } = await import("./context.js");
    return contextOf(program.opts<GlobalOptions>());
  };
  for (const [heading, add] of COMMANDS) {
    /** A command's own parser inherits exitOverride only when it is made by `program.command`. */
    const command = (usage: string, description: string): Command =>
      withExample(program.command(usage).description(description).helpGroup(heading));
    const ofPods = (usage: string, description: string): Command =>
      command(usage, description).option("-n, --namespace <name>", "namespace of the pod (default: any)");
    add({ program, command, ofPods, context, done });
  }
  return program;
}

/** Shows a command's example in its help and with each complaint about its words. */
function withExample(command: Command): Command {
  const example = USAGE_EXAMPLES[command.name()];
  const help = example === undefined ? "" : `\nExample: ${example}\n`;
  return command.configureOutput({ outputError: complain(command.name()) }).addHelpText("after", help);
}

function complain(command: string | undefined): (text: string) => void {
  return (text) => printFailure(usageLine(command, text));
}
