// Dynamic configuration, as the node's connection to its cluster uses it. The connection passes in the assignment and
// reads the state for the Node object.

import type { ConfigSource } from "../../shared/contracts/node-status.js";
import type { ConfigurationFacts } from "../../shared/contracts/nodelet.js";
import type { NodeConfigReport } from "../../shared/kubernetes/api/config-source.js";

export interface NodeConfiguration {
  /** The configuration that the Node assigns, at first and at each change. */
  assigned(source: ConfigSource): void;
  /** Calls the listener now and at each change. Returns a function that stops it. */
  onReport(listener: (report: NodeConfigReport) => void): () => void;
  /** For the nodelet command. */
  facts(): ConfigurationFacts;
}
