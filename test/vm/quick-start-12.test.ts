// The first minutes on Debian 12.
// @headline Packages and documents | The quick start runs to the letter. | fresh Debian 12
// @promise Packages and documents: A fresh Debian 12 and 13 with the distribution's containerd and no CNI
//   configuration runs the quick start to the letter. The package writes no network over another, starts nothing beside
//   kubeadm, and purge refuses while a pod runs.
// @with test/vm/quick-start-13.test.ts, test/cli/network, test/tools/release

import { firstMinutesOn } from "./first-minutes.js";

firstMinutesOn("bookworm");
