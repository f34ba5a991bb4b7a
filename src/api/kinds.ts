/** All kinds with a CRD, in the order in which all lists show them. */
import { componentVersionOverwritesDefinition } from './kinds/componentversionoverwrites.ts';
import { contextDefinition } from './kinds/context.ts';
import { criticalProblemsDefinition } from './kinds/criticalproblems.ts';
import { dataObjectDefinition } from './kinds/dataobject.ts';
import { deployItemDefinition } from './kinds/deployitem.ts';
import { executionDefinition } from './kinds/execution.ts';
import { installationDefinition } from './kinds/installation.ts';
import { jobRecordDefinition } from './kinds/jobrecord.ts';
import { lsHealthCheckDefinition } from './kinds/lshealthcheck.ts';
import { syncObjectDefinition } from './kinds/syncobject.ts';
import { targetDefinition } from './kinds/target.ts';
import { targetSyncDefinition } from './kinds/targetsync.ts';
import type { Definition } from './shared.ts';

export const definitions: readonly Definition[] = [
  installationDefinition,
  executionDefinition,
  deployItemDefinition,
  targetDefinition,
  dataObjectDefinition,
  contextDefinition,
  componentVersionOverwritesDefinition,
  targetSyncDefinition,
  lsHealthCheckDefinition,
  criticalProblemsDefinition,
  syncObjectDefinition,
  jobRecordDefinition,
];
