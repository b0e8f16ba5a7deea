// An unauthorised client of port 10250: whatever it sends, the operator is served beside it.
// @headline Hostile tenants and clients | Attacks of unauthorised clients hardly delay main, operators and probes. | ≤
//   100 ms; 1 s; 1 s

import { UNAUTHORISED_CLIENT } from "./attacks/unauthorised-client.js";
import { attackWith } from "./family.js";

attackWith(UNAUTHORISED_CLIENT);
