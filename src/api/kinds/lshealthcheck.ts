/** LsHealthCheck: whether the system itself is healthy. Its status is a plain top-level string, not a subresource. */
import { z } from 'zod';
import { lsHealthCheckKind } from '../landscaper-kinds.ts';
import { objectOf, time, type Definition } from '../shared.ts';

export type HealthStatus = 'Init' | 'Ok' | 'Failed';

const lsHealthCheck = objectOf('LsHealthCheck', {
  status: z.string().describe('Init, Ok or Failed.'),
  lastUpdateTime: time().describe('When the check ran last.'),
  description: z.string().describe('Result of the check, as a sentence.'),
});
export type LsHealthCheck = z.infer<typeof lsHealthCheck>;

export { lsHealthCheckKind };

export const lsHealthCheckDefinition: Definition = {
  kind: lsHealthCheckKind,
  singular: 'lshealthcheck',
  shortNames: ['lshc'],
  columns: [
    { name: 'Status', type: 'string', path: '.status' },
    { name: 'LastUpdateTime', type: 'date', path: '.lastUpdateTime' },
  ],
  statusSubresource: false,
  description: 'Result of the check whether the controllers and deployers are running.',
  schema: lsHealthCheck,
};
