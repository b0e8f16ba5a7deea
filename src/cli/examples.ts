// Examples for the help of the command and for its manual page. Pure.

export interface Example {
  command: string;
  does: string;
}

export const EXAMPLES: readonly Example[] = [
  { command: "nodelet status", does: "what is wrong with this node" },
  { command: "nodelet why web", does: "why the pod web does not run" },
  { command: "nodelet logs web --since 5m -f", does: "its log of five minutes, and new lines" },
  { command: "nodelet exec -it web sh", does: "a shell in its container" },
  { command: "nodelet validate -f manifests/", does: "check a folder, without a kubelet" },
  { command: "nodelet diff -f web.yaml", does: "what apply would change" },
  { command: "nodelet apply -f web.yaml", does: "run the pods of a file" },
  { command: "nodelet delete web", does: "end the pod, and wait until it is gone" },
];

/** For the end of the help; a line has at most 80 columns. */
export function examplesText(): string {
  const width = Math.max(...EXAMPLES.map(({ command }) => command.length));
  const lines = EXAMPLES.map(({ command, does }) => `  ${command.padEnd(width)}  ${does}`);
  return `\nExamples:\n${lines.join("\n")}\n`;
}
