/** The kinds of the host cluster that a deployer uses, in the form of the runtime. */
import { API_VERSION } from '../../src/api/labels.ts';
import { landscaperKind } from '../../src/api/landscaper-kinds.ts';
import { contextKind, type Context as ContextObject } from '../../src/api/kinds/context.ts';
import { deployItemKind, type DeployItem, type DeployItemStatus } from '../../src/api/kinds/deployitem.ts';
import { targetKind, type Target } from '../../src/api/kinds/target.ts';
import { Secret } from '../../src/runtime/core-kinds.ts';
import type { Kind, Obj, View } from '../../src/runtime/types.ts';

export type { ContextObject, DeployItem, DeployItemStatus, Secret, Target };

/** An execution; a deployer only checks whether its job is running. */
export interface ExecutionObject extends Obj {
  status?: { jobID?: string; jobIDFinished?: string };
}

export const DEPLOY_ITEM: Kind<DeployItem> = deployItemKind;
export const TARGET: Kind<Target> = targetKind;
export const CONTEXT: Kind<ContextObject> = contextKind;
export const EXECUTION: Kind<ExecutionObject> = landscaperKind<ExecutionObject>('Execution', 'executions');
export const SECRET: Kind<Secret> = Secret;

/** An owner reference to a deploy item for garbage collection, not as its controller. */
export const itemOwner = (item: View<DeployItem>) => ({
  apiVersion: API_VERSION,
  kind: 'DeployItem',
  name: item.metadata.name,
  uid: item.metadata.uid ?? '',
});
