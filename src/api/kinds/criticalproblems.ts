/** CriticalProblems: errors in the program itself that a user has to handle. */
import { z } from 'zod';
import { criticalProblemsKind } from '../landscaper-kinds.ts';
import { objectOf, open, time, type Definition } from '../shared.ts';

const criticalProblem = open({
  podName: z.string().optional().describe('Where it happened.'),
  creationTime: time().optional().describe('When it happened.'),
  description: z.string().optional().describe('What happened.'),
});
export type CriticalProblem = z.infer<typeof criticalProblem>;

const criticalProblems = objectOf('CriticalProblems', {
  spec: open({
    criticalProblem: z.array(criticalProblem).optional().describe('The problems, oldest first.'),
  })
    .optional()
    .describe('What was recorded.'),
  status: open({}).optional().describe('Not used.'),
});
export type CriticalProblems = z.infer<typeof criticalProblems>;

export { criticalProblemsKind };

export const criticalProblemsDefinition: Definition = {
  kind: criticalProblemsKind,
  singular: 'criticalproblems',
  shortNames: ['cps'],
  columns: [],
  statusSubresource: true,
  description: 'Unexpected errors of the controllers, which a user has to handle.',
  schema: criticalProblems,
};
