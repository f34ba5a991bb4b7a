/** Runs the operator on the cluster of the current kubeconfig. */
import { runOperator } from 'espalier/runtime';
import { addWebPages } from './operator.ts';

await runOperator({ name: 'webpage-operator', add: addWebPages });
