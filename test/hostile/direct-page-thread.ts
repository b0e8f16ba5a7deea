// The page of the process beside the kubelet, about as large as a kubelet's metrics, over TLS. Its thread has the
// niceness of the kubelet's server threads.

import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { useOrdinaryPriority } from "../../src/shared/thread/priority.js";

const PAGE = Buffer.from('nodelet_a_metric_of_the_page{thread="main",quantile="0.99"} 0.000123\n'.repeat(6_000));

useOrdinaryPriority();
const server = createServer(workerData as { cert: string; key: string }, (_request, response) => {
  response.end(PAGE);
});
server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
