/** The operator with settings from the environment: with a lease, one of several processes leads, and the others stand by. */
import type { Level, OperatorOptions } from 'espalier/runtime';
import { noticeController, type Board } from './notices.ts';

export const noticeOperator = (
  board: Board,
  env: NodeJS.ProcessEnv,
): OperatorOptions & { readonly level: Level } => ({
  name: 'notice-operator',
  identity: env['HOSTNAME'] ?? `notices-${process.pid}`,
  level: env['DEBUG'] === undefined ? 'info' : 'debug',
  lease: { namespace: env['NAMESPACE'] ?? 'default' },
  metricsAddress: { host: '127.0.0.1', port: Number(env['HEALTH_PORT'] ?? 8081) },
  add: (operator) => operator.add(noticeController(board, operator.metrics)),
});
