// Wrong usage is one line with an example of the right one. Pure.

import { oneLine } from "../shared/base/text/printable.js";
import { CliError, EXIT } from "./errors.js";

/** One example for each command; the help of the command shows it, too. */
export const USAGE_EXAMPLES: Readonly<Record<string, string>> = {
  status: "nodelet status -w",
  doctor: "nodelet doctor",
  top: "nodelet top web --containers",
  events: "nodelet events web --warnings",
  images: "nodelet images",
  volumes: "nodelet volumes web",
  devices: "nodelet devices",
  cgroups: "nodelet cgroups -n default",
  config: "nodelet config --diff other.yaml",
  pods: "nodelet pods -n default",
  why: "nodelet why web",
  pod: "nodelet pod web",
  timeline: "nodelet timeline web --svg web.svg",
  logs: "nodelet logs web -c app --since 5m -f",
  exec: "nodelet exec web -- sh",
  cp: "nodelet cp web:/etc/hosts ./hosts",
  apply: "nodelet apply -f web.yaml",
  diff: "nodelet diff -f web.yaml",
  validate: "nodelet validate -f web.yaml",
  delete: "nodelet delete web",
  restart: "nodelet restart web",
  "support-bundle": "nodelet support-bundle --file bundle.tar.gz",
  resolve: "nodelet resolve stack.txt",
  version: "nodelet version",
  completion: "nodelet completion bash",
};

/** Arguments as commander names them, in words. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  pod: "a pod",
  pods: "a pod",
  command: "the command to run in the container",
  source: "what to copy, and where to",
  target: "where to copy it to",
  shell: "a shell",
};

/** Commands of kubectl, docker and crictl that this command has under another name. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  get: "pods",
  ps: "pods",
  describe: "pod",
  inspect: "pod",
  attach: "exec",
  debug: "exec",
  run: "apply",
  create: "apply",
  replace: "apply",
  edit: "apply",
  rm: "delete",
  stop: "delete",
  copy: "cp",
  log: "logs",
  check: "validate",
};

/** A command was given nothing to work on. Shown in one line with the example of the command. */
export class MissingArgumentError extends CliError {
  constructor(message: string) {
    super(EXIT.usage, message);
  }
}

/** A complaint in one line, with the command's example; `command` is undefined before a command is known. */
export function usageLine(command: string | undefined, complaint: string): string {
  const text = oneLine(
    complaint
      .trim()
      .replace(/^error: /, "")
      .replace(/\.$/, ""),
  );
  if (command === undefined) return `${ourName(text) ?? text}; \`nodelet --help\` lists the commands`;
  const missing = /^missing required argument '(.*)'$/.exec(text)?.[1];
  const said = missing === undefined ? text : `name ${ARGUMENTS[missing] ?? `the ${missing}`}`;
  const example = USAGE_EXAMPLES[command];
  return `${command}: ${said}${example === undefined ? "" : `; for example: ${example}`}`;
}

function ourName(text: string): string | undefined {
  const [said, word = ""] = /^unknown command '(\S*)'/.exec(text) ?? [];
  const ours = Object.hasOwn(OTHER_NAMES, word) ? OTHER_NAMES[word] : undefined;
  return said === undefined || ours === undefined ? undefined : `${said}; here it is: ${USAGE_EXAMPLES[ours] ?? ours}`;
}
