// Wrong usage of each command is one line on standard error, with an example, before the kubelet is asked; exit code 2.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { commandTable } from "../../src/cli/completion/command-table.js";
import { main, programOf } from "../../src/cli/program.js";
import { USAGE_EXAMPLES } from "../../src/cli/usage-errors.js";

const COMMANDS = commandTable(programOf(() => undefined)).commands;
/** No kubelet responds there: a command that asked one would exit with 3. */
const NO_KUBELET = "/nonexistent/nodelet.sock";

async function said(context: TestContext, words: readonly string[]): Promise<{ code: number; text: string }> {
  let text = "";
  const write = context.mock.method(process.stderr, "write", (part: string) => {
    text += part;
    return true;
  });
  try {
    return { code: await main(["--socket", NO_KUBELET, ...words]), text };
  } finally {
    write.mock.restore();
  }
}

test("every command has an example, which is one of its own calls", () => {
  deepEqual(COMMANDS.map(({ name }) => name).toSorted(), Object.keys(USAGE_EXAMPLES).toSorted());
  for (const [name, example] of Object.entries(USAGE_EXAMPLES))
    ok(`${example} `.startsWith(`nodelet ${name} `), example);
});

describe("a command without what it works on", () => {
  const FILES = "no manifest is named: give a file, a folder, or - for standard input";
  const ROWS: readonly (readonly [words: string, line: string])[] = [
    ["exec", "exec: name a pod; for example: nodelet exec web -- sh"],
    ["exec web", "exec: name the command to run in the container; for example: nodelet exec web -- sh"],
    ["exec web --", "exec: name the command to run in the container; for example: nodelet exec web -- sh"],
    ["exec -it web", "exec: name the command to run in the container; for example: nodelet exec web -- sh"],
    ["why", "why: name a pod; for example: nodelet why web"],
    ["pod", "pod: name a pod; for example: nodelet pod web"],
    ["timeline", "timeline: name a pod; for example: nodelet timeline web --svg web.svg"],
    ["logs", "logs: name a pod; for example: nodelet logs web -c app --since 5m -f"],
    ["restart", "restart: name a pod; for example: nodelet restart web"],
    ["cp", "cp: name what to copy, and where to; for example: nodelet cp web:/etc/hosts ./hosts"],
    ["cp web:/a", "cp: name where to copy it to; for example: nodelet cp web:/etc/hosts ./hosts"],
    [
      "cp /a /b",
      "cp: one side names a pod (<pod>:<path>), the other a path of this machine; for example: nodelet cp web:/etc/hosts ./hosts",
    ],
    ["completion", "completion: name a shell; for example: nodelet completion bash"],
    ["apply", `apply: ${FILES}; for example: nodelet apply -f web.yaml`],
    ["diff", `diff: ${FILES}; for example: nodelet diff -f web.yaml`],
    ["validate", `validate: ${FILES}; for example: nodelet validate -f web.yaml`],
    [
      "delete",
      "delete: no pod is named: give pods, or their manifests with -f, or all of them with --all; for example: nodelet delete web",
    ],
    [
      "pods extra",
      "pods: too many arguments for 'pods'. Expected 0 arguments but got 1; for example: nodelet pods -n default",
    ],
    ["apply -f", "apply: option '-f, --filename <path>' argument missing; for example: nodelet apply -f web.yaml"],
    [
      "logs web -c",
      "logs: option '-c, --container <name>' argument missing; for example: nodelet logs web -c app --since 5m -f",
    ],
    [
      "status web",
      "status: too many arguments for 'status'. Expected 0 arguments but got 1; for example: nodelet status -w",
    ],
    [
      "completion csh",
      "completion: command-argument value 'csh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish; for example: nodelet completion bash",
    ],
    ["pods --wat", "pods: unknown option '--wat' (Did you mean --watch?); for example: nodelet pods -n default"],
  ];
  for (const [words, line] of ROWS) {
    test(`nodelet ${words}`, async (t) => {
      deepEqual(await said(t, words.split(" ")), { code: 2, text: `nodelet: ${line}\n` });
    });
  }

  test("each command with required arguments complains about the first of them", async (t) => {
    for (const { name } of COMMANDS.filter(({ args }) => args[0]?.startsWith("<") === true)) {
      const { code, text } = await said(t, [name]);
      equal(code, 2, name);
      match(text, new RegExp(`^nodelet: ${name}: .*; for example: nodelet ${name} .*\n$`));
    }
  });
});

describe("an unknown command", () => {
  const ROWS: readonly (readonly [word: string, line: string])[] = [
    ["lgos", "unknown command 'lgos' (Did you mean logs?); `nodelet --help` lists the commands"],
    ["describe", "unknown command 'describe'; here it is: nodelet pod web; `nodelet --help` lists the commands"],
    ["debug", "unknown command 'debug'; here it is: nodelet exec web -- sh; `nodelet --help` lists the commands"],
    ["get", "unknown command 'get'; here it is: nodelet pods -n default; `nodelet --help` lists the commands"],
    ["constructor", "unknown command 'constructor'; `nodelet --help` lists the commands"],
    ["a\nnodelet: b", "unknown command 'a nodelet: b'; `nodelet --help` lists the commands"],
  ];
  for (const [word, line] of ROWS) {
    test(JSON.stringify(word), async (t) => {
      deepEqual(await said(t, [word]), { code: 2, text: `nodelet: ${line}\n` });
    });
  }
});

test("the help of a command shows its example", () => {
  for (const command of programOf(() => undefined).commands.filter((one) =>
    Object.hasOwn(USAGE_EXAMPLES, one.name()),
  )) {
    let help = "";
    command.configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    ok(help.includes(`Example: ${USAGE_EXAMPLES[command.name()] ?? "?"}\n`), help);
  }
});
