// The generated part of the documentation: reference pages from the tables in the code, pictures from data. `npm run docs` writes the files;
// test/packaging/reference.test.ts compares the committed files with the result of this function.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { endpointsPage } from "./endpoints.js";
import { eventsPage } from "./events.js";
import { fieldsPage } from "./fields.js";
import { flagsPage } from "./flags.js";
import { gatesPage } from "./gates.js";
import { metricsPage } from "./metrics.js";
import { benchPicture, benchRows } from "./pictures/bench.js";
import { podWay } from "./pictures/pod-way.js";
import { podStart, type DrawnSpan } from "./pictures/spans.js";

/** Spans of a static pod's start; NODELET_SPANS=<this file> npm test -- integration tracing records them again. */
const SPANS = "docs/pictures/pod-start.json";

/** Text of each generated file, by its path from the root of the repository. */
export async function generate(root: string): Promise<Map<string, string>> {
  const read = (path: string): Promise<string> => readFile(join(root, path), "utf8");
  const spans = JSON.parse(await read(SPANS)) as DrawnSpan[];
  return new Map([
    ["docs/reference/flags.md", flagsPage()],
    ["docs/reference/fields.md", fieldsPage()],
    ["docs/reference/feature-gates.md", gatesPage()],
    ["docs/reference/metrics.md", await metricsPage()],
    ["docs/reference/events.md", eventsPage()],
    ["docs/reference/endpoints.md", endpointsPage()],
    ["docs/pictures/pod-way.svg", podWay()],
    ["docs/pictures/pod-start.svg", podStart(spans)],
    ["docs/pictures/bench.svg", benchPicture(benchRows(await read("docs/measurements/pod-start.md")))],
  ]);
}
