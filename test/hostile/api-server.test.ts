// An API server that lies to the kubelet: what runs goes on, and the node's own port is served.
// @headline Hostile tenants and clients | So do API servers that lie. | the same
import { API_SERVER } from "./attacks/api-server.js";
import { attackWith } from "./family.js";

attackWith(API_SERVER);
