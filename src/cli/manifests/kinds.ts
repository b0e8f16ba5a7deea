// What to do with objects that an API server knows and a node does not. Pure.

const OF_CONTROLLERS = "make a Pod of its spec.template, with a name";
const HELP: Readonly<Record<string, string>> = {
  CronJob: "a node has no clock for pods: use a systemd timer, or a container that sleeps between its runs",
  Job: "make a Pod of its spec.template, with a name and restartPolicy OnFailure",
  ...Object.fromEntries(
    ["DaemonSet", "Deployment", "PodTemplate", "ReplicaSet", "ReplicationController", "StatefulSet"].map((kind) => [
      kind,
      OF_CONTROLLERS,
    ]),
  ),
  ConfigMap: "mount its content as a hostPath volume, or write its values into the pod's env",
  Secret: "mount its content as a hostPath volume that only root may read",
  Service: "set hostPort or hostNetwork in the pod, or let pods find each other by a fixed port",
  Ingress: "run the proxy itself as a pod, with hostPort",
  PersistentVolume: "use the volume's source, such as hostPath or nfs, in the pod itself",
  PersistentVolumeClaim: "use a hostPath, nfs or emptyDir volume in the pod itself",
  Namespace: "a node needs no object for it: name it in metadata.namespace of the pod",
  ServiceAccount: "a pod of a manifest has no token of an API server",
  KubeletConfiguration: "name this file with --config of the kubelet; `kubelet --check-config` checks it",
};

/** For the end of a message about a kind; "" where nothing is known. `shown`: the kind as the reader quotes it. */
export function kindHelp(shown: string | undefined): string {
  const kind = /^"(\w{1,80})"$/.exec(shown ?? "")?.[1];
  if (kind === undefined) return "";
  const help = Object.hasOwn(HELP, kind) ? HELP[kind] : undefined;
  return ` (a node by itself runs only Pods${help === undefined ? "" : `: ${help}`})`;
}
