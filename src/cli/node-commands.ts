// Commands about the node: what it runs, holds and lacks. Each is one file, loaded when it runs.

import type { AddCommand } from "./add-command.js";
import type { DoctorOptions } from "./commands/doctor.js";
import type { EventOptions } from "./commands/events.js";
import type { TopOptions } from "./commands/top.js";
import type { Namespaced, Watched } from "./common-options.js";
import { watched } from "./output/watch.js";

export const addStatus: AddCommand = ({ command, context, done }) =>
  command("status", "the node on one screen: its problems, and since when each lasts")
    .option("-w, --watch", "show it again every 2 s")
    .action(async ({ watch = false }: Watched) => {
      const { statusCommand } = await import("./commands/status.js");
      done(await watched(await context(), watch, statusCommand));
    });

export const addEvents: AddCommand = ({ ofPods, context, done }) =>
  ofPods("events [pod]", "the events that the kubelet keeps, oldest first")
    .option("--warnings", "only warnings")
    .option("-w, --watch", "show them again every 2 s")
    .action(async (name: string | undefined, { watch = false, ...options }: EventOptions & Watched) => {
      const { eventsCommand } = await import("./commands/events.js");
      done(await watched(await context(), watch, (shown) => eventsCommand(shown, name, options)));
    });

export const addTop: AddCommand = ({ ofPods, context, done }) =>
  ofPods("top [pod]", "CPU, memory and disk of the node and its pods; -o json has all figures of /stats/summary")
    .alias("stats")
    .option("--containers", "with a line per container")
    .option("-w, --watch", "show them again every 2 s")
    .action(async (name: string | undefined, { watch = false, ...options }: TopOptions & Watched) => {
      const { topCommand } = await import("./commands/top.js");
      done(await watched(await context(), watch, (shown) => topCommand(shown, name, options)));
    });

export const addConfig: AddCommand = ({ command, context, done }) =>
  command("config", "the effective configuration with the origin of each value")
    .option(
      "--diff [file]",
      "only values that are not the default; with a file: values that differ from it (a KubeletConfiguration, or the response of /configz)",
    )
    .action(async (options: { diff?: boolean | string }) => {
      const { configCommand } = await import("./commands/config.js");
      done(await configCommand(await context(), options));
    });

export const addImages: AddCommand = ({ command, context, done }) =>
  command("images", "the images, who uses them, and what garbage collection would remove, and when")
    .option("-w, --watch", "show them again every 2 s")
    .action(async ({ watch = false }: Watched) => {
      const { imagesCommand } = await import("./commands/images.js");
      done(await watched(await context(), watch, imagesCommand));
    });

export const addVolumes: AddCommand = ({ ofPods, context, done }) =>
  ofPods("volumes [pod]", "the volumes of the pods: plugin, state, usage")
    .option("-w, --watch", "show them again every 2 s")
    .action(async (name: string | undefined, { watch = false, ...options }: Watched & Namespaced) => {
      const { volumesCommand } = await import("./commands/volumes.js");
      done(await watched(await context(), watch, (shown) => volumesCommand(shown, name, options)));
    });

export const addDevices: AddCommand = ({ command, context, done }) =>
  command("devices", "devices, exclusive CPUs and memory: which container holds them, and which are free")
    .option("-w, --watch", "show them again every 2 s")
    .action(async ({ watch = false }: Watched) => {
      const { devicesCommand } = await import("./commands/devices.js");
      done(await watched(await context(), watch, devicesCommand));
    });

export const addCgroups: AddCommand = ({ ofPods, context, done }) =>
  ofPods("cgroups", "limits and usage of the cgroups of QoS classes, pods and containers, as the kernel has them")
    .option("-w, --watch", "show them again every 2 s")
    .action(async ({ watch = false, ...options }: Watched & Namespaced) => {
      const { cgroupsCommand } = await import("./commands/cgroups.js");
      done(await watched(await context(), watch, (shown) => cgroupsCommand(shown, options)));
    });

export const addDoctor: AddCommand = ({ command, context, done }) =>
  command("doctor", "check the machine: kernel, cgroups, network, runtime, disks and more")
    .option("--fix", "write a pod network for a stand-alone node on which none is configured, instead of the checks")
    .option("--dual-stack", "with --fix: IPv6 addresses for pods, too (default: if the node has a global one)")
    .option("--no-dual-stack", "with --fix: IPv4 addresses only")
    .action(async (options: DoctorOptions) => {
      const { doctorCommand } = await import("./commands/doctor.js");
      done(await doctorCommand(await context(), options));
    });
