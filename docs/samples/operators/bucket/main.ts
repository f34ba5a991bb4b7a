/** Runs the operator on the cluster of the current kubeconfig, and with the service that BUCKET_SERVICE names. */
import { runOperator } from 'espalier/runtime';
import { bucketController } from './bucket.ts';

const { BUCKET_SERVICE: url = '', BUCKET_TOKEN: token = '' } = process.env;
await runOperator({
  name: 'bucket-operator',
  add: (operator) => operator.add(bucketController({ url, token }, operator)),
});
