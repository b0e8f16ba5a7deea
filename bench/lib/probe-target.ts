// A process to be probed: an HTTP server on a free port, which it tells its parent. Ends with its parent.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setPriority } from "node:os";

// As pods have it, not as the kubelet that it is a child of.
setPriority(0);
const server = createServer((_request, response) => response.end("ok"));
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
