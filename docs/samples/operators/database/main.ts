/** Runs the operator on the cluster of the current kubeconfig. Schemas are in the folder of the first argument. */
import { runOperator } from 'espalier/runtime';
import { addDatabases } from './operator.ts';
import { Schemas } from './schemas.ts';

const schemas = new Schemas(process.argv[2] ?? './schemas');
await runOperator({ name: 'database-operator', add: (operator) => addDatabases(operator, schemas) });
