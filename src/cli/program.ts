// The commands of nodelet, their arguments and options. Each command is one file, loaded when it runs.
import { Argument, Command, CommanderError, Option } from "commander";
import { messageOf } from "../shared/errors/thrown.js";
import { contextOf, FORMATS, type Context, type GlobalOptions } from "./context.js";
import type { CopyOptions } from "./commands/cp.js";
import type { EventOptions } from "./commands/events.js";
import type { ExecOptions } from "./commands/exec.js";
import type { LogOptions } from "./commands/logs.js";
import type { TimelineOptions } from "./commands/timeline.js";
import type { TopOptions } from "./commands/top.js";
import { CliError, EXIT } from "./errors.js";
import { complain, writeErr, writeOut } from "./output/terminal.js";
import { watched } from "./output/watch.js";

const EXIT_CODES = `
Exit codes: 0 all is well, 1 something is wrong, 2 wrong usage, 3 no kubelet responds on the socket.
`;

/** Returns the exit code. Never rejects. */
export async function main(argv: readonly string[]): Promise<number> {
  let code: number = EXIT.fine;
  const program = programOf((result) => (code = result));
  try {
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
    if (!(error instanceof CliError)) {
      writeErr(`nodelet: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}\n`);
      return EXIT.wrong;
    }
    complain(error.message);
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

/** The program: parse runs a command, which then calls `done` with its exit code. Its texts are also those of the man page. */
export function programOf(done: (code: number) => void): Command {
  const program = new Command("nodelet")
    .description("Shows what the kubelet of this machine does, and why a pod does not run.")
    .option("--socket <path>", "admin socket of the kubelet (default: NODELET_SOCKET, else by --root-dir)")
    .option(
      "--root-dir <path>",
      "root directory of the kubelet, by which its socket is found (default: /var/lib/kubelet)",
    )
    .addOption(new Option("-o, --output <form>", "form of the output").choices(FORMATS).default("table"))
    .option("--color", "colours even if the output is no terminal")
    .option("--no-color", "no colours")
    .addHelpText("after", EXIT_CODES)
    .showHelpAfterError("(nodelet --help lists the commands)")
    .configureOutput({ writeOut: (text) => writeOut(text, false), writeErr })
    .exitOverride();
  const context = (): Context => contextOf(program.opts<GlobalOptions>());
  /** A command's own parser inherits exitOverride only when it is made by `program.command`. */
  const command = (usage: string, description: string): Command => program.command(usage).description(description);
  const pod = (usage: string, description: string): Command =>
    command(usage, description).option("-n, --namespace <name>", "namespace of the pod (default: any)");

  command("status", "the node on one screen: its problems, and since when each lasts")
    .option("-w, --watch", "show it again every 2 s")
    .action(async ({ watch = false }: Watched) => {
      const { statusCommand } = await import("./commands/status.js");
      done(await watched(context(), watch, statusCommand));
    });
  pod("pods", "the pods of the node")
    .option("-w, --watch", "show them again every 2 s")
    .action(async ({ watch = false, namespace }: Watched & Namespaced) => {
      const { podsCommand } = await import("./commands/pods.js");
      done(
        await watched(context(), watch, (shown) => podsCommand(shown, namespace === undefined ? {} : { namespace })),
      );
    });
  pod("why <pod>", "why a pod does not run, is not ready, restarts or stays, or why a manifest makes no pod")
    .option("-w, --watch", "show it again every 2 s")
    .action(async (name: string, { watch = false, namespace }: Watched & Namespaced) => {
      const { whyCommand } = await import("./commands/why.js");
      done(await watched(context(), watch, (shown) => whyCommand(shown, name, namespace)));
    });
  pod("pod <pod>", "one pod with its containers, conditions and volumes")
    .option("-w, --watch", "show it again every 2 s")
    .action(async (name: string, { watch = false, namespace }: Watched & Namespaced) => {
      const { podCommand } = await import("./commands/pod.js");
      done(await watched(context(), watch, (shown) => podCommand(shown, name, namespace)));
    });
  pod("timeline <pod>", "the steps of a pod's start as bars")
    .option("--svg <file>", "write them as an SVG file")
    .action(async (name: string, options: TimelineOptions) => {
      const { timelineCommand } = await import("./commands/timeline.js");
      done(await timelineCommand(context(), name, options));
    });
  pod("events [pod]", "the events that the kubelet keeps, oldest first")
    .option("--warnings", "only warnings")
    .option("-w, --watch", "show them again every 2 s")
    .action(async (name: string | undefined, { watch = false, ...options }: EventOptions & Watched) => {
      const { eventsCommand } = await import("./commands/events.js");
      done(await watched(context(), watch, (shown) => eventsCommand(shown, name, options)));
    });
  pod("logs <pod>", "the log of a container")
    .option("-c, --container <name>", "the container (default: the first)")
    .option("-f, --follow", "go on as the log grows")
    .option("-p, --previous", "of the run before")
    .option("--timestamps", "with the time of each line")
    .option("--tail <lines>", "only the last lines")
    .option("--since <seconds>", "only lines of the last seconds")
    .action(async (name: string, options: LogOptions) => {
      const { logsCommand } = await import("./commands/logs.js");
      done(await logsCommand(context(), name, options));
    });
  pod(
    "exec <pod> <command...>",
    "run a command in a container: exec <pod> -- <command>; the exit code is the command's",
  )
    .option("-c, --container <name>", "the container (default: the first)")
    .option("-i, --stdin", "pass standard input to the command")
    .option("-t, --tty", "with a terminal")
    .action(async (name: string, words: string[], options: ExecOptions) => {
      const { execCommand } = await import("./commands/exec.js");
      done(await execCommand(context(), name, words, options));
    });
  pod("cp <source> <target>", "copy a file or folder out of a container or into it: <pod>:<path>, or a path")
    .option("-c, --container <name>", "the container (default: the first)")
    .action(async (source: string, target: string, options: CopyOptions) => {
      const { copyCommand } = await import("./commands/cp.js");
      done(await copyCommand(context(), source, target, options));
    });
  for (const name of ["stats", "top"]) {
    pod(name, "CPU, memory and disk of the node and its pods; -o json has all figures of /stats/summary")
      .option("--containers", "with a line per container")
      .option("-w, --watch", "show them again every 2 s")
      .action(async ({ watch = false, ...options }: TopOptions & Watched) => {
        const { statsCommand } = await import("./commands/top.js");
        done(await watched(context(), watch, (shown) => statsCommand(shown, options)));
      });
  }
  command("config", "the effective configuration with the origin of each value")
    .option(
      "--diff [file]",
      "only values that are not the default; with a file: values that differ from it (a KubeletConfiguration, or the response of /configz)",
    )
    .action(async (options: { diff?: boolean | string }) => {
      const { configCommand } = await import("./commands/config.js");
      done(await configCommand(context(), options));
    });
  command("images", "the images, who uses them, and what garbage collection would remove, and when")
    .option("-w, --watch", "show them again every 2 s")
    .action(async ({ watch = false }: Watched) => {
      const { imagesCommand } = await import("./commands/images.js");
      done(await watched(context(), watch, imagesCommand));
    });
  pod("volumes [pod]", "the volumes of the pods: plugin, state, usage")
    .option("-w, --watch", "show them again every 2 s")
    .action(async (name: string | undefined, { watch = false, ...options }: Watched & Namespaced) => {
      const { volumesCommand } = await import("./commands/volumes.js");
      done(await watched(context(), watch, (shown) => volumesCommand(shown, name, options)));
    });
  command("devices", "devices, exclusive CPUs and memory: which container holds them, and which are free")
    .option("-w, --watch", "show them again every 2 s")
    .action(async ({ watch = false }: Watched) => {
      const { devicesCommand } = await import("./commands/devices.js");
      done(await watched(context(), watch, devicesCommand));
    });
  pod("cgroups", "limits and usage of the cgroups of QoS classes, pods and containers, as the kernel has them")
    .option("-w, --watch", "show them again every 2 s")
    .action(async ({ watch = false, ...options }: Watched & Namespaced) => {
      const { cgroupsCommand } = await import("./commands/cgroups.js");
      done(await watched(context(), watch, (shown) => cgroupsCommand(shown, options)));
    });
  command("doctor", "check the machine: kernel, cgroups, network, runtime, disks and more")
    .option("--fix", "write a pod network for a stand-alone node on which none is configured, instead of the checks")
    .action(async (options: { fix?: boolean }) => {
      const { doctorCommand } = await import("./commands/doctor.js");
      done(await doctorCommand(context(), options));
    });
  command("support-bundle", "write a tar.gz for an issue, with secrets masked")
    .option("--file <path>", "the file (default: nodelet-support-<time>.tar.gz)")
    .action(async (options: { file?: string }) => {
      const { bundleCommand } = await import("./commands/support-bundle.js");
      done(await bundleCommand(context(), options));
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
