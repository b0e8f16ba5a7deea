// A tenant whose pods are made to hurt: files, specs, load, servers and streams. The pod beside them stays Ready, the
// operator is served.
// @headline Hostile tenants and clients | Attacks of tenants hardly delay main, operators and probes. | ≤ 100 ms; 1 s;
//   1 s
// @promise Hostile tenants and clients: A tenant is hostile, a client at port 10250 is not authorised, or an API server
//   or runtime sends wrong data. The neighbour pod stays Ready with its containers, no thread restarts, the operator
//   gets responses.

import { TENANT_FILES } from "./attacks/tenant-files.js";
import { TENANT_LOAD } from "./attacks/tenant-load.js";
import { TENANT_SERVERS } from "./attacks/tenant-servers.js";
import { TENANT_SPECS } from "./attacks/tenant-specs.js";
import { TENANT_STREAMS } from "./attacks/tenant-streams.js";
import { attackWith } from "./family.js";

attackWith([...TENANT_FILES, ...TENANT_SPECS, ...TENANT_LOAD, ...TENANT_SERVERS, ...TENANT_STREAMS]);
