/** Runs the operator, and converts between the versions of its kind. */
import { requireKinds, runOperator } from 'espalier/runtime';
import { backups, conversion } from './kind.ts';

await runOperator({
  name: 'backup-operator',
  conversion: {
    conversions: [conversion],
    endpoint: { service: { name: 'backup-operator' } },
  },
  async add(operator) {
    await requireKinds(operator.client, [backups], 'kubectl apply -f crd.yaml');
    operator.add({
      name: 'backups',
      kind: backups,
      reconciler: {
        reconcile({ metadata, spec }, { log }) {
          log.info({ backup: metadata.name, cron: spec.schedule.cron }, 'backup scheduled');
          return Promise.resolve({ write: 'none' });
        },
      },
    });
  },
});
