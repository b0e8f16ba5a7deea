// A stranger at the authenticated port: whatever it sends, the operator is served beside it.
// @headline Hostile tenants and clients | Attacks of unauthorised clients hardly delay main, operators and probes. | ≤
//   100 ms; 1 s; 1 s

import { STRANGER } from "./attacks/stranger.js";
import { attackWith } from "./family.js";

attackWith(STRANGER);
