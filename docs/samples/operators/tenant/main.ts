/** Runs the operator on the cluster of the current kubeconfig. */
import { runOperator } from 'espalier/runtime';
import { addTenants } from './operator.ts';

await runOperator({ name: 'tenant-operator', add: addTenants });
