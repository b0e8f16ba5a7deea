// Objects of a new cluster: namespaces, priority classes, the service of the API server.
import type { StoreView } from "./store-view.js";

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];
const PRIORITIES = { "system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000 };

export function furnish(store: StoreView, port: () => number): void {
  for (const name of NAMESPACES) store.put("namespaces", { metadata: { name } });
  for (const [name, value] of Object.entries(PRIORITIES)) store.put("priorityclasses", { metadata: { name }, value });
  store.put("services", {
    metadata: { name: "kubernetes", namespace: "default", labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      type: "ClusterIP",
      clusterIP: "10.96.0.1",
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: port() }],
    },
  });
}
