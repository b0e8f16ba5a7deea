// kubelet(8) and the completion table of the kubelet, made of the tables of flags.

import type { CommandRow } from "../../../src/cli/completion/command-table.js";
import { GROUPS, type Flag } from "../../../src/main/command/flags/flag.js";
import { FLAGS_BY_GROUP, flagsOf } from "../../../src/main/command/flags/table.js";
import { describe, valueName } from "../../../src/main/command/help.js";
import { item, page, paragraphs } from "./roff.js";

const SUMMARY = "Kubernetes node agent: starts and watches the containers of pods";

/** [flag of Linux by its long name, without dashes][] of each subject, sorted. */
function groups(): [group: string, flags: [string, Flag][]][] {
  const known = flagsOf("linux").byName;
  return GROUPS.map((group): [string, [string, Flag][]] => [
    group,
    Object.entries(FLAGS_BY_GROUP[group])
      .filter(([name]) => known.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ]).filter(([, flags]) => flags.length > 0);
}

function namesOf(name: string, { short }: Flag): string[] {
  if (short === name) return [`-${name}`];
  return short === undefined ? [`--${name}`] : [`-${short}`, `--${name}`];
}

/** The flags as completion scripts need them. */
export function kubeletTable(): CommandRow {
  const options = groups().flatMap(([, flags]) =>
    flags.map(([name, flag]) => {
      const value = valueName(flag);
      return {
        names: namesOf(name, flag),
        help: flag.help,
        ...(value === undefined ? {} : { value: isFile(flag) ? "file" : value }),
        ...(value !== undefined && flag.bare !== undefined ? { valueIsOptional: true as const } : {}),
        ...(flag.kind === "format" ? { choices: ["yaml", "json"] } : {}),
      };
    }),
  );
  return { name: "kubelet", help: SUMMARY, options, args: [], commands: [] };
}

function isFile({ kind, help }: Flag): boolean {
  return kind === "string" && /\b(file|directory|folder|path)\b/.test(help);
}

export function kubeletManual(version: string, epoch: number): string {
  const body = [
    ".SH SYNOPSIS",
    "\\fBkubelet\\fR [\\fIflags\\fR]",
    ".SH DESCRIPTION",
    ...paragraphs(
      "The kubelet runs on each node of a Kubernetes cluster. It starts the containers of pods through a container runtime, probes them, restarts them, and reports their status.",
      "Without --kubeconfig it runs stand-alone: pods come only from manifests in the directory that staticPodPath in the configuration names.",
      "This kubelet is nodelet's. Flags, configuration file, API and state files follow those of Kubernetes 1.36. Flags win over configuration files.",
    ),
    ".SH OPTIONS",
    ...groups().flatMap(([group, flags]) => [
      `.SS ${group}`,
      ...flags.flatMap(([name, flag]) => item(namesOf(name, flag), valueName(flag), describe(flag))),
    ]),
    ".SH FILES",
    ...item(["/etc/nodelet/kubelet.yaml"], undefined, "configuration of the stand-alone unit"),
    ...item(["/etc/kubernetes/manifests"], undefined, "manifests of static pods"),
    ...item(["/etc/default/kubelet"], undefined, "KUBELET_EXTRA_ARGS: flags of this machine, read by the unit"),
    ...item(["/var/lib/kubelet"], undefined, "state: volumes of pods, checkpoints, certificates"),
    ...item(["/run/nodelet/kubelet.sock"], undefined, "socket of nodelet(1)"),
    ".SH EXIT STATUS",
    ...paragraphs("0 after a signal to end, 1 after a failure. An invalid flag or configuration is a failure."),
    ".SH SEE ALSO",
    "\\fBnodelet\\fR(1), \\fBsystemctl\\fR(1)",
  ];
  return page({ name: "kubelet", section: 8, summary: SUMMARY, epoch, version, body });
}
