// nodelet(1) and the completion table of the nodelet command, made of its commander program.

import { commandTable, type CommandRow, type OptionRow } from "../../../src/cli/completion/command-table.js";
import { EXAMPLES } from "../../../src/cli/examples.js";
import { programOf } from "../../../src/cli/program.js";
import { item, page, paragraphs, plain } from "./roff.js";

export function nodeletTable(): CommandRow {
  return commandTable(programOf(() => undefined));
}

export function nodeletManual(version: string, epoch: number): string {
  const table = nodeletTable();
  const body = [
    ".SH SYNOPSIS",
    "\\fBnodelet\\fR [\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]",
    ".SH DESCRIPTION",
    ...paragraphs(
      table.help,
      "It needs no API server: it asks the running kubelet over a unix socket, which only root may open by default.",
      "A pod is named NAME, NAMESPACE/NAME or pod/NAME. The name of a static pod may be given as in its manifest.",
    ),
    ".SH OPTIONS",
    ...options(table.options),
    ".SH COMMANDS",
    ...table.commands.flatMap((command) => [
      `.SS ${plain([command.name, ...command.args].join(" "))}`,
      plain(command.help),
      ...options(command.options.filter(({ names }) => !names.includes("--help"))),
    ]),
    ".SH EXAMPLES",
    ...EXAMPLES.flatMap(({ command, does }) => item([command], undefined, does)),
    ".SH MANIFESTS",
    ...paragraphs(
      "apply, diff and delete need a kubelet with --manifest-api or --manifest-api=socket. A packaged stand-alone node has the latter: only root may use it.",
      "They change pods of the manifest API only. A pod from a file, a URL or the API server is refused with the reason.",
      "restart gives the manifest the annotation nodelet.dev/restartedAt. The pod terminates with its grace period; then a pod with a new UID, sandbox, address and emptyDir volumes starts.",
    ),
    ".SH EXIT STATUS",
    ...item(["0"], undefined, "all is well"),
    ...item(
      ["1"],
      undefined,
      "something is wrong: with the node, a pod or a manifest; something differs (diff); or the request failed",
    ),
    ...item(["2"], undefined, "wrong usage; a failure of diff"),
    ...item(["3"], undefined, "no kubelet responds on the socket, or this user may not use it"),
    ".SH ENVIRONMENT",
    ...item(["NODELET_SOCKET"], undefined, "path of the socket, as --socket"),
    ...item(["NO_COLOR"], undefined, "if it is set, the output has no colours"),
    ".SH SEE ALSO",
    "\\fBkubelet\\fR(8)",
  ];
  const summary = "shows what the kubelet of this machine does, and runs pods from manifests";
  return page({ name: "nodelet", section: 1, summary, epoch, version, body });
}

function options(rows: readonly OptionRow[]): string[] {
  return rows.flatMap(({ names, value, help, choices }) =>
    item(names, value, choices === undefined ? help : `${help}: ${choices.join(", ")}`),
  );
}
