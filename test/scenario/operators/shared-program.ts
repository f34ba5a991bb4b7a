/** A replica as a program, for `sharing.test.ts`: writes its name and the text of the spec to the status of each page. */
import { runOperator } from '../../../src/runtime/operator/run-operator.ts';
import { pages, type Page } from '../../support/operators.ts';

const { NAMESPACE: namespace = '', REPLICA: identity = '' } = process.env;
await runOperator({
  name: 'shared-pages',
  identity,
  sharing: { namespace, durationMs: 3_000, renewDeadlineMs: 2_000, renewMs: 300 },
  add: (operator) =>
    operator.add<Page>({
      name: 'pages',
      kind: pages,
      cache: { namespaces: [namespace] },
      reconciler: {
        reconcile: (page, ctx) =>
          Promise.resolve({
            write: 'status',
            object: { ...ctx.draft(), status: { by: identity, text: page.spec['text'] } },
          }),
      },
    }),
});
