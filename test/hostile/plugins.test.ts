// Node plugins that hang, flood and lie: the normal pod stays Ready, the operator is served, and pods with other
// plugins' devices start.

import { PLUGINS } from "./attacks/plugins.js";
import { attackWith } from "./family.js";

attackWith(PLUGINS, { configure: () => ({ config: { volumeStatsAggPeriod: "1s" } }) });
