// Makes dist/agent, the code of the kubelet in the form that is installed and run. Without it Node opens, links and
// compiles hundreds of small modules one by one, in every thread, at every start. That was most of the start-up time.
// Three steps: esbuild joins the compiled files into chunks that entries share; bundle/modules.mjs makes each chunk a
// function and packs what a start needs into one file per entry; make-cache.js keeps what V8 compiles of them
// (docs/adr/0057). Names of functions, classes and variables are short; positions.json.gz resolves stacks
// (docs/adr/0132). With --readable it makes dist/agent-readable, with the names of the sources, for profilers.
// Invariant: `new URL("../../../workers/…", import.meta.url)` in a source means the same file in the bundle, wherever
// the source lies (bundle/own-urls.mjs). The build checks that each such file is there.

import { spawnSync } from "node:child_process";
import { access, chmod, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { writeVersion } from "../build/version.mjs";
import { classNames } from "./class-names.mjs";
import { grpcByUse } from "./grpc-by-use.mjs";
import { writeModules } from "./modules.mjs";
import { ownUrls } from "./own-urls.mjs";
import { writePage } from "./page.mjs";
import { POSITIONS } from "./positions.mjs";

const dist = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "dist");
const readable = process.argv.includes("--readable");
const outdir = join(dist, readable ? "agent-readable" : "agent");
const chunks = `${outdir}-chunks`;
const root = dirname(dist);
/**
 * Each folder of src/workers with an index.ts is a thread: of the table in src/main/threads/thread-table.ts, log and
 * tasks.
 */
const threads = (await readdir(join(root, "src", "workers"), { recursive: true }))
  .filter((path) => /^[^/]+\/index\.ts$/.test(path))
  .map((path) => `workers/${dirname(path)}/index`);
const entries = [
  "main/kubelet",
  "cli/nodelet",
  "main/process/examine-child",
  "workers/tasks/volume-helper",
  "workers/tasks/read-manifests",
  ...threads,
];
/**
 * Files that every start imports dynamically, after its entry and in this order: each with what it needs, and with
 * files that it imports dynamically in every start. The code of each row is in one pack.
 */
const starts = {
  "main/command/run-settings": ["main/command/run-settings", "main/command/config/read-config"],
  "main/process/run": ["main/process/run"],
  "main/kubelet/agent": ["main/kubelet/agent", "shared/contracts/pleg-codec"],
};
/** Packages that load native code or files at run time; `make install` copies them. */
const { bundle } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

/**
 * Asked for by grpc-js for services that we do not offer (channelz): 41 modules that every thread would read for
 * nothing.
 */
const neverLoaded = ["@grpc/proto-loader"];

/**
 * dockerode loads them for image builds and for Engines behind SSH, which the kubelet does not use; ssh2 also brings a
 * native module.
 */
const unused = join(root, "tools", "bundle", "unused.cjs");
const withoutBuilds = {
  name: "dockerode without builds and SSH",
  setup(build) {
    build.onResolve({ filter: /^(ssh2|tar-fs|@balena\/dockerignore|\.\/session)$/ }, ({ importer }) =>
      /node_modules\/docker(ode|-modem)\//.test(importer) ? { path: unused } : undefined,
    );
  },
};

/** Its flags are the kubelet's, however it is started: the code cache holds for these. */
const [firstLine] = (await readFile(join(root, "src/main/kubelet.ts"), "utf8")).split("\n");
const nodeFlags = firstLine.split(" node ")[1].split(" ");

for (const folder of [outdir, chunks]) await rm(folder, { recursive: true, force: true });
const common = {
  platform: "node",
  target: "node20.19",
  sourcemap: true,
  // Every thread keeps the text of what it loads.
  minifyWhitespace: true,
  minifySyntax: true,
  minifyIdentifiers: !readable,
  legalComments: "none",
  logLevel: "warning",
};
const { metafile } = await build({
  ...common,
  entryPoints: entries.map((entry) => join(dist, "src", `${entry}.js`)),
  outdir: chunks,
  outbase: join(dist, "src"),
  absWorkingDir: root,
  chunkNames: "main/chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  external: [...bundle.external, ...neverLoaded],
  plugins: [grpcByUse(root), withoutBuilds, classNames, ownUrls(join(dist, "src"))],
  metafile: true,
});
// Beside the chunks, too: the check below looks for all that they name.
await writePage({ root, folders: [outdir, chunks] });
await writeVersion(root, [outdir, chunks]);
await checkEntries();
await build({
  ...common,
  entryPoints: [join(dist, "src/shared/io/code/loader.js"), join(dist, "src/shared/io/code/make-cache.js")],
  outdir,
  bundle: true,
  format: "cjs",
  // Their names have no hash of the text, so no file could resolve a stack of another version.
  minifyIdentifiers: false,
});
await writeModules({ from: chunks, to: outdir, common, metafile, entries, starts });
await rm(chunks, { recursive: true });
for (const command of ["main/kubelet.js", "cli/nodelet.js"]) await chmod(join(outdir, command), 0o755);
const made = spawnSync(process.execPath, [...nodeFlags, join(outdir, "make-cache.js"), outdir], { stdio: "inherit" });
if (made.status !== 0) throw new Error("the code cache was not made");

/** Every file that a chunk starts by its URL must be there: a missing one would be noticed only when it is started. */
async function checkEntries() {
  for (const name of await readdir(chunks, { recursive: true })) {
    if (!name.endsWith(".js")) continue;
    const path = join(chunks, name);
    const text = await readFile(path, "utf8");
    const urls = [...text.matchAll(/new URL\(["`](\.[^"`]+)["`], ?import\.meta\.url\)/g)].flatMap(([, url]) =>
      // A name between is that of any thread: src/main/threads/thread-context.ts.
      /\$\{/.test(url) ? threads.map((entry) => url.replace(/\$\{[^}]*\}/, entry.split("/")[1])) : [url],
    );
    // Those of positions are known when all scripts are.
    for (const url of urls.filter((one) => one !== `./${POSITIONS}`)) {
      const entry = join(chunks, url);
      await access(entry).catch(() => {
        throw new Error(`${name} starts ${url}, which is not in the bundle: ${entry}`);
      });
    }
  }
}
