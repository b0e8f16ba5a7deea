// The generated part of the documentation: reference pages from the tables in the code, pictures from data. `npm run
// docs` writes the files; test/tools/docs/reference.test.ts compares the committed files with the result of this
// function.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { decisionsPage } from "./decisions.js";
import { endpointsPage } from "./endpoints.js";
import { eventsPage } from "./events.js";
import { fieldsPage } from "./fields.js";
import { flagsPage } from "./flags.js";
import { gatesPage } from "./gates.js";
import { limitsPage } from "./limits.js";
import { metricsPage } from "./metrics.js";
import { optionalFeaturesPage } from "./optional-features.js";
import { benchPicture, benchRows } from "./pictures/bench.js";
import { podWay } from "./pictures/pod-way.js";
import { podStart, type DrawnSpan } from "./pictures/spans.js";
import { promisesPage, readPromises, specification } from "./promises.js";

/** Spans of a static pod's start; NODELET_SPANS=<this file> npm test -- integration tracing records them again. */
const SPANS = "docs/pictures/pod-start.json";

/** Where tags of promises stand: folder and ending. */
const PROMISING = [
  ["bench/sections", ".ts"],
  ["test", ".test.ts"],
] as const;

/** Text of each generated file, by its path from the root of the repository. */
export async function generate(root: string): Promise<Map<string, string>> {
  const read = (path: string): Promise<string> => readFile(join(root, path), "utf8");
  const promises = readPromises(await filesOf(root, PROMISING));
  const spans = JSON.parse(await read(SPANS)) as DrawnSpan[];
  const decisions = await records(root);
  return new Map([
    ["docs/reference/flags.md", flagsPage()],
    ["docs/reference/fields.md", fieldsPage()],
    ["docs/reference/feature-gates.md", gatesPage()],
    ["docs/reference/metrics.md", await metricsPage()],
    ["docs/reference/events.md", eventsPage()],
    ["docs/reference/endpoints.md", endpointsPage()],
    ["docs/reference/promises.md", promisesPage(promises)],
    ["SPECIFICATION.md", specification(await read("SPECIFICATION.md"), promises)],
    ["docs/adr/README.md", decisionsPage(decisions)],
    ["docs/reference/limits.md", limitsPage()],
    ["docs/reference/optional-features.md", optionalFeaturesPage([...decisions.keys()])],
    ["docs/pictures/pod-way.svg", podWay()],
    ["docs/pictures/pod-start.svg", podStart(spans)],
    ["docs/pictures/bench.svg", benchPicture(benchRows(await read("docs/measurements/pod-start.md")))],
  ]);
}

/** Text by path from the root, in the order of the paths. */
async function filesOf(root: string, places: typeof PROMISING): Promise<Map<string, string>> {
  const found = places.map(async ([folder, ending]) => {
    const names = await readdir(join(root, folder), { recursive: true });
    return names.filter((name) => name.endsWith(ending)).map((name) => `${folder}/${name}`);
  });
  const paths = (await Promise.all(found)).flat().sort();
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(root, path), "utf8")] as const)),
  );
}

/** Text of each decision by its file's name. */
async function records(root: string): Promise<Map<string, string>> {
  const folder = join(root, "docs/adr");
  const names = (await readdir(folder)).filter((name) => /^\d{4}-.+\.md$/.test(name));
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const)),
  );
}
