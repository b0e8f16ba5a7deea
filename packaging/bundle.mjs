// Joins the compiled agent into few files, dist/agent: Node opens and links hundreds of small modules one by one, in every
// thread, and that was half of the start-up time. What each entry needs is in chunks that entries share.
// Invariant: `new URL("../../workers/…", import.meta.url)` in src/main/<folder>/ means the same file from a chunk, so
// chunks lie in main/<folder>/ too. The build checks it.
import { access, chmod, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), "dist");
const outdir = join(dist, "agent");
const root = dirname(dist);
/** Each folder of src/workers with an index.ts is a thread: of the table in src/main/threads/thread-table.ts, log and tasks. */
const threads = (await readdir(join(root, "src", "workers"), { recursive: true }))
  .filter((path) => /^[^/]+\/index\.ts$/.test(path))
  .map((path) => `workers/${dirname(path)}/index`);
const entries = ["main/kubelet", "main/startup/examine-child", "workers/tasks/volume-helper", ...threads];
/** What loads files of its own at run time, natively or by name; `make install` takes these packages along. */
const { bundle } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

/** Asked for by grpc-js for services that we do not offer (channelz): 41 modules that every thread would read for nothing. */
const neverLoaded = ["@grpc/proto-loader"];

await rm(outdir, { recursive: true, force: true });
await build({
  entryPoints: entries.map((entry) => join(dist, "src", `${entry}.js`)),
  outdir,
  outbase: join(dist, "src"),
  chunkNames: "main/chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  external: [...bundle.external, ...neverLoaded],
  sourcemap: true,
  // Every thread keeps the text of what it loads. Names stay: stacks and profiles are read by people.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: "none",
  logLevel: "warning",
  // CommonJS packages inside the bundle still ask for Node's own modules by require.
  banner: {
    js: 'import { createRequire as bundleRequire } from "node:module"; const require = bundleRequire(import.meta.url);',
  },
});
await checkEntries();
await chmod(join(outdir, "main", "kubelet.js"), 0o755);

/** Every file that a chunk starts by its URL must be there: a missing one would be noticed only when it is started. */
async function checkEntries() {
  for (const name of await readdir(outdir, { recursive: true })) {
    if (!name.endsWith(".js")) continue;
    const path = join(outdir, name);
    const text = await readFile(path, "utf8");
    const urls = [...text.matchAll(/new URL\(["`](\.[^"`]+)["`], ?import\.meta\.url\)/g)].flatMap(([, url]) =>
      // A name between is that of any thread: src/main/threads/thread-context.ts.
      /\$\{/.test(url) ? threads.map((entry) => url.replace(/\$\{[^}]*\}/, entry.split("/")[1])) : [url],
    );
    for (const url of urls) {
      const entry = join(dirname(path), url);
      await access(entry).catch(() => {
        throw new Error(`${name} starts ${url}, which is not in the bundle: ${entry}`);
      });
    }
  }
}
