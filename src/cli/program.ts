// The commands of nodelet, their arguments and options. Each command is one file, loaded when it runs.

import { Argument, Command, CommanderError, Option } from "commander";
import { messageOf } from "../shared/base/errors/thrown.js";
import { isBeforeCommand, preparedWords } from "./command-line.js";
import type { CopyOptions } from "./commands/cp.js";
import type { DoctorOptions } from "./commands/doctor.js";
import type { EventOptions } from "./commands/events.js";
import type { ExecOptions } from "./commands/exec.js";
import type { LogOptions } from "./commands/logs.js";
import type { NamesOptions } from "./commands/names.js";
import type { TimelineOptions } from "./commands/timeline.js";
import type { TopOptions } from "./commands/top.js";
import { NAMES_COMMAND } from "./completion/names-command.js";
import type { Context, GlobalOptions } from "./context.js";
import { CliError, EXIT } from "./errors.js";
import { examplesText } from "./examples.js";
import { addManifestCommands } from "./manifest-commands.js";
import { FORMATS } from "./output/formats.js";
import { printFailure, writeErr, writeOut } from "./output/terminal.js";
import { watched } from "./output/watch.js";

const EXIT_CODES = `
Exit codes: 0 all is well, 1 something is wrong, 2 wrong usage,
3 no kubelet responds on the socket.
`;

/** Headings of the help, and the commands below each. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "Node:": ["status", "doctor", "top", "events", "images", "volumes", "devices", "cgroups", "config"],
  "Pods:": ["pods", "why", "pod", "timeline", "logs", "exec", "cp"],
  "Manifests:": ["apply", "diff", "validate", "delete", "restart"],
};

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
    printFailure(error.message);
    if (error.remedy !== undefined) writeErr(`what to do: ${error.remedy}\n`);
    return error.exitCode;
  }
}

interface Namespaced {
  namespace?: string;
}
interface Watched {
  watch?: boolean;
}

/** Shells for which `nodelet completion` has a script. */
const SHELLS = ["bash", "zsh", "fish"] as const;

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
    .showHelpAfterError("(nodelet --help lists the commands)")
    .configureOutput({ writeOut: (text) => writeOut(text, false), writeErr })
    .commandsGroup("Others:")
    .helpCommand("help [command]", "show the help of a command")
    .exitOverride();
  /** Its code brings Node's HTTP client, which the help does not need. */
  const context = async (): Promise<Context> => {
    const { contextOf } = await import("./context.js");
    return contextOf(program.opts<GlobalOptions>());
  };
  /** A command's own parser inherits exitOverride only when it is made by `program.command`. */
  const command = (usage: string, description: string): Command =>
    inGroup(program.command(usage).description(description));
  const pod = (usage: string, description: string): Command =>
    command(usage, description).option("-n, --namespace <name>", "namespace of the pod (default: any)");

  command("status", "the node on one screen: its problems, and since when each lasts")
    .option("-w, --watch", "show it again every 2 s")
    .action(async ({ watch = false }: Watched) => {
      const { statusCommand } = await import("./commands/status.js");
      done(await watched(await context(), watch, statusCommand));
    });
  pod("pods", "the pods of the node")
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
  pod("why <pod>", "why a pod does not run, is not ready, restarts or stays, or why a manifest makes no pod")
    .option("-w, --watch", "show it again every 2 s")
    .action(async (name: string, { watch = false, namespace }: Watched & Namespaced) => {
      const { whyCommand } = await import("./commands/why.js");
      done(await watched(await context(), watch, (shown) => whyCommand(shown, name, namespace)));
    });
  pod("pod <pod>", "one pod with its containers, conditions and volumes")
    .option("-w, --watch", "show it again every 2 s")
    .action(async (name: string, { watch = false, namespace }: Watched & Namespaced) => {
      const { podCommand } = await import("./commands/pod.js");
      done(await watched(await context(), watch, (shown) => podCommand(shown, name, namespace)));
    });
  pod("timeline <pod>", "the steps of a pod's start as bars")
    .option("--svg <file>", "write them as an SVG file")
    .action(async (name: string, options: TimelineOptions) => {
      const { timelineCommand } = await import("./commands/timeline.js");
      done(await timelineCommand(await context(), name, options));
    });
  pod("events [pod]", "the events that the kubelet keeps, oldest first")
    .option("--warnings", "only warnings")
    .option("-w, --watch", "show them again every 2 s")
    .action(async (name: string | undefined, { watch = false, ...options }: EventOptions & Watched) => {
      const { eventsCommand } = await import("./commands/events.js");
      done(await watched(await context(), watch, (shown) => eventsCommand(shown, name, options)));
    });
  pod("logs <pod> [container]", "the log of a container")
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
  pod("exec <pod> <command...>", "run a command in a container: exec <pod> ls -la /; the exit code is the command's")
    .option("-c, --container <name>", "the container (default: the first)")
    .option("-i, --stdin", "pass standard input to the command")
    .option("-t, --tty", "with a terminal")
    .action(async (name: string, words: string[], options: ExecOptions) => {
      const { execCommand } = await import("./commands/exec.js");
      done(await execCommand(await context(), name, words, options));
    });
  pod("cp <source> <target>", "copy a file or folder out of a container or into it: <pod>:<path>, or a path")
    .option("-c, --container <name>", "the container (default: the first)")
    .action(async (source: string, target: string, options: CopyOptions) => {
      const { copyCommand } = await import("./commands/cp.js");
      done(await copyCommand(await context(), source, target, options));
    });
  pod("top [pod]", "CPU, memory and disk of the node and its pods; -o json has all figures of /stats/summary")
    .alias("stats")
    .option("--containers", "with a line per container")
    .option("-w, --watch", "show them again every 2 s")
    .action(async (name: string | undefined, { watch = false, ...options }: TopOptions & Watched) => {
      const { topCommand } = await import("./commands/top.js");
      done(await watched(await context(), watch, (shown) => topCommand(shown, name, options)));
    });
  addManifestCommands({ command, context, done });
  command("config", "the effective configuration with the origin of each value")
    .option(
      "--diff [file]",
      "only values that are not the default; with a file: values that differ from it (a KubeletConfiguration, or the response of /configz)",
    )
    .action(async (options: { diff?: boolean | string }) => {
      const { configCommand } = await import("./commands/config.js");
      done(await configCommand(await context(), options));
    });
  command("images", "the images, who uses them, and what garbage collection would remove, and when")
    .option("-w, --watch", "show them again every 2 s")
    .action(async ({ watch = false }: Watched) => {
      const { imagesCommand } = await import("./commands/images.js");
      done(await watched(await context(), watch, imagesCommand));
    });
  pod("volumes [pod]", "the volumes of the pods: plugin, state, usage")
    .option("-w, --watch", "show them again every 2 s")
    .action(async (name: string | undefined, { watch = false, ...options }: Watched & Namespaced) => {
      const { volumesCommand } = await import("./commands/volumes.js");
      done(await watched(await context(), watch, (shown) => volumesCommand(shown, name, options)));
    });
  command("devices", "devices, exclusive CPUs and memory: which container holds them, and which are free")
    .option("-w, --watch", "show them again every 2 s")
    .action(async ({ watch = false }: Watched) => {
      const { devicesCommand } = await import("./commands/devices.js");
      done(await watched(await context(), watch, devicesCommand));
    });
  pod("cgroups", "limits and usage of the cgroups of QoS classes, pods and containers, as the kernel has them")
    .option("-w, --watch", "show them again every 2 s")
    .action(async ({ watch = false, ...options }: Watched & Namespaced) => {
      const { cgroupsCommand } = await import("./commands/cgroups.js");
      done(await watched(await context(), watch, (shown) => cgroupsCommand(shown, options)));
    });
  command("doctor", "check the machine: kernel, cgroups, network, runtime, disks and more")
    .option("--fix", "write a pod network for a stand-alone node on which none is configured, instead of the checks")
    .option("--dual-stack", "with --fix: IPv6 addresses for pods, too (default: if the node has a global one)")
    .option("--no-dual-stack", "with --fix: IPv4 addresses only")
    .action(async (options: DoctorOptions) => {
      const { doctorCommand } = await import("./commands/doctor.js");
      done(await doctorCommand(await context(), options));
    });
  command("support-bundle", "write a tar.gz for an issue, with secrets masked")
    .option("--file <path>", "the file (default: nodelet-support-<time>.tar.gz)")
    .action(async (options: { file?: string }) => {
      const { bundleCommand } = await import("./commands/support-bundle.js");
      done(await bundleCommand(await context(), options));
    });
  command("version", "the version of this command, and of the kubelet").action(async () => {
    const { versionCommand } = await import("./commands/version.js");
    done(await versionCommand(await context()));
  });
  program
    .command(NAMES_COMMAND, { hidden: true })
    .option("-n, --namespace <name>")
    .option("--containers-of <pod>")
    .action(async (options: NamesOptions) => {
      const { namesCommand } = await import("./commands/names.js");
      await namesCommand(await context(), options);
    });
  const completion = command("completion", "print the completion script of this command for a shell").addArgument(
    new Argument("<shell>", "the shell").choices(SHELLS),
  );
  completion.action(async (shell: string) => {
    const { completionCommand } = await import("./commands/completion.js");
    completionCommand(program, shell, (text) => writeOut(text, false));
  });
  return program;
}

/** The others are in the group of the program. */
function inGroup(command: Command): Command {
  const group = Object.keys(GROUPS).find((one) => GROUPS[one]?.includes(command.name()));
  return group === undefined ? command : command.helpGroup(group);
}
