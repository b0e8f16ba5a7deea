// projected volumes: several sources in one directory, in memory. The volume with which pods reach the API server is
// one.

import { settleAtMost } from "../../../shared/base/turns/map-at-most.js";
import type { VolumeProjection } from "../../../shared/kubernetes/api/volume.js";
import type { PayloadFile } from "../atomic-writer/payload.js";
import { together } from "../object-volume/content-error.js";
import { DEFAULT_MODE } from "../object-volume/key-files.js";
import { objectVolumePlugin } from "../object-volume/object-volume.js";
import type { VolumePlugin } from "../plugin.js";
import { projectionFiles, type ProjectedDeps } from "./projection-files.js";

/** A volume may have tens of thousands of sources. */
const SOURCES_AT_ONCE = 16;

export function projectedPlugin(deps: ProjectedDeps): VolumePlugin {
  return objectVolumePlugin(
    {
      name: "kubernetes.io/projected",
      source: "projected",
      inMemory: true,
      async collect({ pod, volume, signal }) {
        const { sources = [], defaultMode = DEFAULT_MODE } = volume.projected ?? {};
        const read = ([index, source]: [number, VolumeProjection]) =>
          projectionFiles(deps, { pod, source, volume: volume.name, index, defaultMode, signal });
        const outcomes = await settleAtMost(SOURCES_AT_ONCE, sources.entries(), read);
        const problems = outcomes.flatMap((outcome) =>
          outcome.status === "rejected" ? [outcome.reason as unknown] : [],
        );
        if (problems.length > 0) throw together(problems);
        // If two sources name one path, the later one wins.
        return new Map<string, PayloadFile>(
          outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [...outcome.value] : [])),
        );
      },
    },
    deps,
  );
}
