/** The schema of landscape tests: all fields of a file. docs/landscape-tests.md explains them. */
import { z } from 'zod';

const names = z.union([z.string(), z.array(z.string())]);
const object = z.record(z.string(), z.unknown());

const answer = z.object({
  after: z.string().optional(),
  times: z.number().optional(),
  exports: object.optional(),
  fails: z.string().optional(),
  never: z.boolean().optional(),
  deployer: z.boolean().optional(),
});
const answers = z.record(z.string(), z.union([answer, z.array(answer)]));

const given = z.object({
  objects: z.array(object).optional(),
  imports: object.optional(),
  targets: z.array(z.string()).optional(),
  types: z.array(z.string()).optional(),
  answers: answers.optional(),
});

const node = z.object({
  phase: z.string().optional(),
  message: z.string().optional(),
  conditions: z.record(z.string(), z.string()).optional(),
});

const then = z.object({
  tree: z.record(z.string(), z.union([z.string(), node])).optional(),
  objects: z.array(object).optional(),
  absent: z.array(object).optional(),
  exports: object.optional(),
  order: z.array(z.string()).optional(),
  snapshot: z.boolean().optional(),
});

const step = z.object({
  install: names.optional(),
  reconcile: names.optional(),
  interrupt: names.optional(),
  delete: z.union([z.string(), object]).optional(),
  change: object.optional(),
  imports: object.optional(),
  answers: answers.optional(),
  outage: z.string().optional(),
  wait: z.string().optional(),
  then: then.optional(),
  for: z.string().optional(),
});

const testCase = z.object({
  name: z.string(),
  skip: z.string().optional(),
  given: given.optional(),
  when: z.array(step).optional(),
  then: then.optional(),
});

export const suiteSchema = z.object({
  landscape: names.optional(),
  namespace: z.string().optional(),
  time: z.string().optional(),
  given: given.optional(),
  cases: z.array(testCase),
});

export type Suite = z.infer<typeof suiteSchema>;
export type Given = z.infer<typeof given>;
export type Step = z.infer<typeof step>;
export type Then = z.infer<typeof then>;
export type Answer = z.infer<typeof answer>;
export type Answers = z.infer<typeof answers>;
export type ExpectedNode = z.infer<typeof node>;

/** The fields of a step that say what happens; each step has exactly one of them. */
export const actions = [
  'install',
  'reconcile',
  'interrupt',
  'delete',
  'change',
  'imports',
  'answers',
  'outage',
  'wait',
  'then',
] as const satisfies readonly (keyof Step)[];
