// The text of --help, made of the table of options; commander lays it out.
import { Command, Option as HelpOption } from "commander";
import { formatDuration } from "./duration.js";
import { OPTION_ROWS, type AnyOption } from "./options.js";

const PLACEHOLDER: Partial<Record<AnyOption["type"], string>> = {
  string: "text",
  int32: "number",
  int64: "number",
  duration: "duration",
  strings: "list",
  headerMap: "name:value",
};

export function helpText(columns = 100): string {
  const command = new Command("kubelet")
    .usage("[flags]")
    .description("The node agent: runs the pods of this node. Without --kubeconfig it runs static pods, stand-alone.")
    .helpOption("-h, --help", "show this help")
    .configureHelp({ sortOptions: true, helpWidth: columns })
    .option("--version", "print the Kubernetes version and exit");
  for (const [, option] of OPTION_ROWS) {
    if (option.flag === undefined) continue;
    const short = option.short === undefined || option.short === option.flag ? "" : `-${option.short}, `;
    const dashes = option.short === option.flag ? "-" : "--";
    const value = option.type === "bool" ? "" : ` <${PLACEHOLDER[option.type] ?? option.type}>`;
    const shown = defaultText(option);
    const help = shown === "" ? option.help : `${option.help} (default ${shown})`;
    command.addOption(new HelpOption(`${short}${dashes}${option.flag}${value}`, help));
  }
  return command.helpInformation();
}

function defaultText(option: AnyOption): string {
  const value: unknown = option.default;
  if (option.type === "duration") return formatDuration(value as number);
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}
