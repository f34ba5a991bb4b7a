/** The rules of all types. */
import { admissionRules } from './admission.ts';
import { autoscalingRules } from './autoscaling.ts';
import { batchRules } from './batch.ts';
import { containerRules } from './containers.ts';
import { networkRules } from './network.ts';
import { podRules } from './pods.ts';
import { resourceRules } from './resources.ts';
import type { RuleTable, TypeRules } from './vocabulary.ts';
import { volumeRules } from './volumes.ts';
import { workloadRules } from './workloads.ts';

const TABLES: readonly RuleTable[] = [
  admissionRules,
  autoscalingRules,
  batchRules,
  containerRules,
  networkRules,
  podRules,
  resourceRules,
  volumeRules,
  workloadRules,
];

export const ruleTables: ReadonlyMap<string, TypeRules> = new Map(
  TABLES.flatMap((rules) => Object.entries(rules)),
);
