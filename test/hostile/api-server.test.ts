// An API server that lies to the kubelet: what runs goes on, and the node's own port is served.
import { API_SERVER } from "./attacks/api-server.js";
import { attackWith } from "./family.js";

attackWith(API_SERVER);
