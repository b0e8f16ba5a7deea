// The rules of a pod's affinity and topology spread constraints. The kubelet reads node affinity only; the rest is
// checked as the API checks it.

import {
  dnsLabel,
  dnsSubdomain,
  labelValue,
  notEmpty,
  qualifiedName,
} from "../../../shared/kubernetes/api/manifest/formats.js";
import { int, oneOf, str, text } from "./field-types.js";
import type { Rule, Rules } from "./struct.js";

const key = text(qualifiedName);
const weight = int(1, 100);
const policy = oneOf("Honor", "Ignore");
const operator = oneOf("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt");

/** Values of preferred terms need not be those of labels. */
const nodeTerm = (values: typeof str): Rule<"NodeSelectorTerm"> => ({
  fields: {
    matchExpressions: { fields: { key, operator, values }, required: ["key", "operator"] },
    matchFields: {
      fields: { key: oneOf("metadata.name"), operator: oneOf("In", "NotIn"), values: text(dnsSubdomain) },
      required: ["key", "operator"],
    },
  },
});

export const affinityRules = (): Rules => ({
  Affinity: { keptWhole: true },
  LabelSelector: { fields: { matchLabels: text(labelValue) } },
  LabelSelectorRequirement: {
    fields: { key, operator: oneOf("In", "NotIn", "Exists", "DoesNotExist"), values: text(labelValue) },
    required: ["key", "operator"],
  },
  NodeSelector: { fields: { nodeSelectorTerms: nodeTerm(text(labelValue)) }, required: ["nodeSelectorTerms"] },
  PodAffinityTerm: {
    fields: { namespaces: text(dnsLabel), topologyKey: key, matchLabelKeys: key, mismatchLabelKeys: key },
    required: ["topologyKey"],
  },
  PreferredSchedulingTerm: { fields: { weight, preference: nodeTerm(str) }, required: ["weight"] },
  TopologySpreadConstraint: {
    fields: {
      maxSkew: int(1),
      topologyKey: text(notEmpty),
      whenUnsatisfiable: oneOf("DoNotSchedule", "ScheduleAnyway"),
      minDomains: int(1),
      nodeAffinityPolicy: policy,
      nodeTaintsPolicy: policy,
      matchLabelKeys: key,
    },
    required: ["maxSkew", "topologyKey", "whenUnsatisfiable"],
    keptWhole: true,
  },
  WeightedPodAffinityTerm: { fields: { weight }, required: ["weight", "podAffinityTerm"] },
});
