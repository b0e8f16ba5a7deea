// The house rules as lint: import arrows, who may touch shared memory, who may touch time. Rules of types are in
// .oxlintrc.json.

import { createTypeScriptImportResolver } from "eslint-import-resolver-typescript";
import importX from "eslint-plugin-import-x";
import regexp from "eslint-plugin-regexp";
import tseslint from "typescript-eslint";
import nodelet from "./tools/lint/plugin.mjs";

const TIME = "only shared/base/clock touches timers and wall time: take a Clock";
const SHARED_MEMORY = "only shared/base/queue touches shared memory: use a ring queue or the thread board";

const timeGlobals = ["setTimeout", "setInterval", "setImmediate"].map((name) => ({ name, message: TIME }));
const memoryGlobals = ["Atomics", "SharedArrayBuffer"].map((name) => ({ name, message: SHARED_MEMORY }));
const timeProperties = [
  { object: "Date", property: "now", message: TIME },
  { object: "performance", property: "now", message: TIME },
];
const abortProperties = ["any", "timeout"].map((property) => ({
  ...{ object: "AbortSignal", property },
  message: "Node 20 keeps its results while a source lives: take a Scope (shared/base/abort), and dispose of it",
}));
/** Calls that wait for a FIFO, follow a planted link, or read a folder of any size at once (docs/adr/0041). */
const UNTRUSTED = "pods can shape files here: take shared/io/fs/untrusted-file and untrusted-folder, or volume-calls";
const untrustedCalls = ["open", "readFile", "stat", "readdir", "realpath", "opendir"].flatMap((name) => [
  name,
  `${name}Sync`,
]);
const fileModules = "/^(node:)?fs(\\u002Fpromises)?$/";
const untrustedFiles = {
  "no-restricted-syntax": [
    "error",
    ...[
      `ImportDeclaration[source.value=${fileModules}] > ImportSpecifier[imported.name=/^(${untrustedCalls.join("|")}|createReadStream)$/]`,
      `ImportDeclaration[source.value=${fileModules}] > :matches(ImportNamespaceSpecifier, ImportDefaultSpecifier)`,
      `ImportExpression[source.value=${fileModules}]`,
    ].map((selector) => ({ selector, message: UNTRUSTED })),
  ],
};

/** Reads that wait for a FIFO, and take as much memory as the file has. */
const wholeFiles = {
  "no-restricted-syntax": [
    "error",
    {
      selector: `ImportDeclaration[source.value=${fileModules}] > ImportSpecifier[imported.name=/^(readFile|readFileSync|createReadStream)$/]`,
      message: "take shared/io/fs/regular-file; only files that the kernel makes up are read without a limit",
    },
  ],
};

/** From its first line to its last, with blank lines and comments, however it is called. */
const LINES_OF_A_FUNCTION = { max: 70, skipBlankLines: false, skipComments: false, IIFEs: true };

const timeModules = ["node:timers", "node:timers/promises", "timers", "timers/promises"].map((name) => ({
  name,
  message: TIME,
}));

export default tseslint.config(
  {
    ignores: [".cache/**", "dist/**", "node_modules/**", "src/**/gen/**", "bench/results/**"],
  },
  {
    files: ["**/*.{ts,js,mjs,cjs}"],
    languageOptions: { parser: tseslint.parser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    plugins: { "import-x": importX, nodelet, regexp },
    settings: { "import-x/resolver-next": [createTypeScriptImportResolver()] },
    rules: {
      "import-x/no-cycle": ["error", { ignoreExternal: true }],
      "import-x/no-unresolved": "error",
      "nodelet/comment-width": "error",
      "nodelet/dependency-lists": "error",
      "nodelet/docstring-subject": "error",
      "nodelet/one-idea": "error",
      "nodelet/test-title": "error",
      "no-restricted-globals": ["error", ...timeGlobals, ...memoryGlobals],
      "no-restricted-imports": ["error", { paths: timeModules }],
      "no-restricted-properties": ["error", ...timeProperties, ...abortProperties],
      "no-console": "error",
      // Main reads other people's text: no expression may take more than linear time (docs/adr/0043).
      "regexp/no-super-linear-backtracking": ["error", { report: "potential" }],
      "regexp/no-super-linear-move": ["error", { report: "potential", ignorePartial: false, ignoreSticky: true }],
    },
  },
  {
    // The status page is a program of its own, in a browser: it shares the rules of the nodelet command, which are
    // pure.
    files: ["src/page/**"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              group: ["**/cli/commands/**", "**/cli/client*", "**/cli/program*", "node:*"],
              message: "the status page imports only shared and the pure rules of cli",
            },
          ],
        },
      ],
      "no-restricted-globals": ["error", ...memoryGlobals],
      "no-restricted-properties": ["error", ...abortProperties],
    },
  },
  {
    files: ["src/{main,shared,workers}/**"],
    // Files of /proc and /sys, and the program's own.
    ignores: [
      "src/main/kubelet/node-settings.ts",
      "src/main/node/{kernel-defaults,machine-warnings,machine,swap}.ts",
      "src/main/pods/admission/app-armor.ts",
      "src/main/pods/sync/pod-records.ts",
      "src/main/process/unix/{command-io,process-limits}.ts",
      "src/main/resources/**",
      "src/main/volumes/{held-device,atomic-writer/*,disks/device-mapper,iscsi/iscsi-disk}.ts",
      "src/shared/base/version/product-version.ts",
      "src/shared/io/code/*.ts",
      "src/shared/io/{fs/mountinfo,os/flock-holder,os/program-pages}.ts",
      "src/shared/node/{cgroup/mounts,stats/kernel-file}.ts",
      "src/shared/telemetry/metrics/thread-usage.ts",
      "src/workers/dockershim/exec/exec-sync.ts",
      "src/workers/node-status/host-network.ts",
      "src/workers/server/{metrics/process-metrics,page/page-document}.ts",
    ],
    rules: wholeFiles,
  },
  {
    // Container logs, termination messages, hosts files, node logs, checkpoint archives, and what pods have on disk.
    files: [
      "src/shared/node/container-logs/**",
      "src/main/pods/collection/**",
      "src/main/pods/disk-usage/**",
      "src/main/containers/logs/**",
      "src/main/pods/status/**",
      "src/main/containers/runtime/**",
      "src/main/volumes/fs-group/**",
      "src/main/volumes/host-path/**",
      "src/main/volumes/sub-path.ts",
      "src/main/volumes/volume-usage.ts",
      "src/workers/image-gc/**",
      "src/workers/server/logs/node/**",
      "src/workers/server/logs/pods/**",
      "src/workers/server/stats/disk/**",
      "src/workers/server/pods/checkpoint.ts",
      "src/workers/tasks/compress-log.ts",
      "src/workers/tasks/volume-helper.ts",
      "src/workers/dockershim/logs/**",
      "src/workers/dockershim/sandboxes/run-sandbox.ts",
    ],
    rules: untrustedFiles,
  },
  {
    // No comment of a source switches one of these rules off.
    files: ["src/**"],
    linterOptions: { noInlineConfig: true },
    rules: {
      "nodelet/conditional-spread": "error",
      "nodelet/deps-spread": "error",
      "max-lines-per-function": ["error", LINES_OF_A_FUNCTION],
    },
  },
  { files: ["src/shared/base/queue/**"], rules: { "no-restricted-globals": ["error", ...timeGlobals] } },
  {
    files: ["src/shared/base/clock/**"],
    rules: {
      "no-restricted-globals": ["error", ...memoryGlobals],
      "no-restricted-properties": ["error", ...abortProperties],
      "no-restricted-imports": "off",
    },
  },
  {
    // Tests, benchmarks and set-up scripts are programs of their own: they wait in real time and print.
    files: ["test/**", "bench/**", "tools/**"],
    rules: {
      "no-restricted-globals": "off",
      "no-restricted-properties": "off",
      "no-restricted-imports": "off",
      "no-console": "off",
    },
  },
  {
    // Scripts without types: the rules that need none. Some load what the build makes.
    files: ["*.js", "**/*.{mjs,cjs}"],
    extends: [tseslint.configs.strict],
    rules: {
      "no-restricted-globals": "off",
      "no-console": "off",
      "import-x/no-unresolved": ["error", { ignore: ["/dist/"] }],
    },
  },
);
