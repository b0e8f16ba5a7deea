// An API server that lies to the kubelet: what runs goes on, and the node's own port is served.
// @headline Hostile tenants and clients | API servers that lie hardly delay main, operators and probes. | ≤ 100 ms; 1
//   s; 1 s

import { API_SERVER } from "./attacks/api-server.js";
import { attackWith } from "./family.js";

attackWith(API_SERVER);
